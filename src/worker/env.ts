/** What the account binds to the Worker, and its variables. */

import { type Config, ConfigError, isSafeForTokens, parseConfig } from '../config.ts'
import type { D1Binding } from '../stores/d1/binding.ts'
import type { R2Bucket } from '../stores/r2/binding.ts'
import type { AssetFetcher } from './assets.ts'

export interface Env {
  IMAGES: R2Bucket
  LEDGER: D1Binding
  /** For salts alone: what is deleted there is gone. */
  PRIVATE: R2Bucket
  ASSETS: AssetFetcher
  /** Variables and secrets of the configuration. */
  readonly [variable: string]: unknown
}

const BINDINGS = ['IMAGES', 'LEDGER', 'PRIVATE', 'ASSETS']

/** They are of a machine or of a process, or done by something else here. */
const ELSEWHERE: Record<string, string> = {
  PORT: 'Cloudflare listens',
  HOST: 'Cloudflare listens',
  DATA_DIR: 'there is no disk',
  OBJECTS_URL: 'images are in the bucket bound as IMAGES',
  LEDGER_URL: 'the ledger is in the database bound as LEDGER',
  TOMBSTONES_URL: 'D1 keeps its own history, for thirty days',
  TRUSTED_PROXIES: 'Cloudflare says in CF-Connecting-IP who the client is',
  CONNECTIONS_PER_ADDRESS: 'connections end at Cloudflare',
  HOT_SET_BYTES: 'Cloudflare’s cache is in front',
  WORKERS: 'Cloudflare starts as many as are needed',
  MIN_FREE_BYTES: 'there is no disk',
  TERMS_FILE: 'there is no disk',
  OPERATOR_LISTEN: 'the operator’s pages are where OPERATOR_URL says, another host of this Worker',
  UPLOADER_LINKS: 'D1 keeps for thirty days what should be gone in two, so uploads are not linked',
}

/** Throws `ConfigError`. */
export function configOf(env: Env): Config & { baseUrl: string } {
  const mistakes = BINDINGS.filter((name) => env[name] === undefined).map(
    (name) => `${name} is not bound: see deploy/cloudflare/README.md`,
  )
  const variables = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  for (const [name, why] of Object.entries(ELSEWHERE)) {
    if (variables[name]?.trim()) mistakes.push(`${name} has no meaning on Workers: ${why}`)
  }
  if (!variables.BASE_URL?.trim()) mistakes.push('BASE_URL must be set, such as https://pics.example')
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const config = parseConfig(variables)
  if (config.cdnUrl !== null && !config.cdnUrl.startsWith('workers-cache:')) {
    throw new ConfigError([
      `CDN_URL must be workers-cache://default, or not set: Workers run before the zone's cache`,
    ])
  }
  const { operatorUrl, baseUrl } = config
  if (operatorUrl !== null && !isSafeForTokens(operatorUrl)) {
    throw new ConfigError(['OPERATOR_URL must begin with https://: OPERATOR_TOKEN is sent there'])
  }
  if (operatorUrl === baseUrl) {
    throw new ConfigError(['OPERATOR_URL must be another host than BASE_URL: visitors see that one'])
  }
  return { ...config, baseUrl: baseUrl!, minFreeBytes: 0, uploaderLinks: false }
}
