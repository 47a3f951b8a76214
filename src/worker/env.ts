/** The Worker's bindings and variables. */
import { type Config, ConfigError, isSafeForTokens, parseConfig } from '../config.ts'
import type { D1Binding } from '../stores/d1/binding.ts'
import type { R2Bucket } from '../stores/r2/binding.ts'
import type { AssetFetcher } from './assets.ts'

export interface Env {
  IMAGES: R2Bucket
  LEDGER: D1Binding
  /** Only for salts: what is deleted from R2 is gone for good, while D1 keeps its history for thirty days. */
  PRIVATE: R2Bucket
  ASSETS: AssetFetcher
  /** Variables and secrets of the configuration. */
  readonly [variable: string]: unknown
}

const BINDINGS = ['IMAGES', 'LEDGER', 'PRIVATE', 'ASSETS']

/** Variables that have no effect on Workers, with the reason. */
const UNSUPPORTED_VARIABLES: Record<string, string> = {
  PORT: 'Cloudflare accepts the connections',
  HOST: 'Cloudflare accepts the connections',
  DATA_DIR: 'there is no disk',
  OBJECTS_URL: 'images are stored in the bucket bound as IMAGES',
  LEDGER_URL: 'the ledger is stored in the database bound as LEDGER',
  TOMBSTONES_URL: 'D1 keeps its own history for thirty days',
  TRUSTED_PROXIES: 'Cloudflare sends the client address in CF-Connecting-IP',
  CONNECTIONS_PER_ADDRESS: 'connections terminate at Cloudflare',
  HOT_SET_BYTES: 'Cloudflare’s cache is in front',
  WORKERS: 'Cloudflare starts as many isolates as needed',
  MIN_FREE_BYTES: 'there is no disk',
  TERMS_FILE: 'there is no disk',
  OPERATOR_LISTEN: 'the admin server is served at OPERATOR_URL, another hostname of this Worker',
  UPLOADER_LINKS:
    'D1 keeps its history for thirty days, but links between uploads must be gone after two, so uploads are not linked',
}

/** Throws `ConfigError`. */
export function configOf(env: Env): Config & { baseUrl: string } {
  const mistakes = BINDINGS.filter((name) => env[name] === undefined).map(
    (name) => `${name} is not bound: see deploy/cloudflare/README.md`,
  )
  const variables = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  for (const [name, why] of Object.entries(UNSUPPORTED_VARIABLES)) {
    if (variables[name]?.trim()) mistakes.push(`${name} has no effect on Workers: ${why}`)
  }
  if (!variables.BASE_URL?.trim()) mistakes.push('BASE_URL must be set, for example to https://pics.example')
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const config = parseConfig(variables)
  if (config.cdnUrl !== null && !config.cdnUrl.startsWith('workers-cache:')) {
    throw new ConfigError([
      `CDN_URL must be workers-cache://default or unset: Workers run in front of the zone's cache`,
    ])
  }
  const { operatorUrl, baseUrl } = config
  if (operatorUrl !== null && !isSafeForTokens(operatorUrl)) {
    throw new ConfigError(['OPERATOR_URL must begin with https://, because OPERATOR_TOKEN is sent to it'])
  }
  if (operatorUrl === baseUrl) {
    throw new ConfigError(['OPERATOR_URL must be a different host from BASE_URL, which is public'])
  }
  return { ...config, baseUrl: baseUrl!, minFreeBytes: 0, uploaderLinks: false }
}
