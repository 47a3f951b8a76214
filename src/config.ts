/** Every variable of the server, in one table. `--help` prints it; `parseConfig` reports every mistake at once. */
import { DEFAULT_MAX_UPLOAD_BYTES, DEFAULT_UPLOADS_PER_DAY } from './protocol.ts'

export interface Config {
  port: number
  host: string
  /** Without a trailing slash. `null`: http://localhost and the port. */
  baseUrl: string | null
  dataDir: string
  /** `null`: a folder in `dataDir`. */
  objectsUrl: string | null
  /** `null`: a file in `dataDir`. */
  ledgerUrl: string | null
  /** `null`: no cache in front. */
  cdnUrl: string | null
  trustedProxies: string[]
  uploadsPerDay: number
  maxUploadBytes: number
  stripMetadata: boolean
  uploadsPaused: boolean
  allowedOrigins: string[]
  hotSetBytes: number
  workers: number
  /** `null`: the default text. */
  termsFile: string | null
  logLevel: string
}

interface Variable<T> {
  fallback: string
  meaning: string
  /** Throws an `Error` that says what the value should be. */
  parse(text: string): T
  /** The value may hold a password: it is not printed. */
  isSecret?: boolean
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const VARIABLES = {
  PORT: variable('3000', 'port to listen on; 0 takes a free one', integer(0, 65_535)),
  HOST: variable('127.0.0.1', 'address to listen on; 0.0.0.0 or :: for all', text),
  BASE_URL: variable('', 'address that links begin with (default: http://localhost:PORT)', optional(baseUrl)),
  DATA_DIR: variable('./data', 'folder for images, ledger and drafts', text),
  OBJECTS_URL: variable(
    'file:',
    'file: is a folder in DATA_DIR; or s3://bucket/prefix?endpoint=…&region=…',
    inDataDir('file:', url('s3:')),
  ),
  LEDGER_URL: variable(
    'sqlite:',
    'sqlite: is a file in DATA_DIR; or postgres://…',
    inDataDir('sqlite:', url('postgres:', 'postgresql:')),
    true,
  ),
  CDN_URL: variable(
    '',
    'cache to purge: cloudflare://, fastly://, varnish://, nginx://',
    optional(url('cloudflare:', 'fastly:', 'nginx:', 'varnish:')),
    true,
  ),
  TRUSTED_PROXIES: variable(
    '',
    'proxies whose X-Forwarded-For is believed, as CIDRs with commas',
    list(cidr),
  ),
  UPLOADS_PER_DAY: variable(
    `${DEFAULT_UPLOADS_PER_DAY}`,
    'uploads for each address and UTC day',
    integer(1, 1e9),
  ),
  MAX_UPLOAD_BYTES: variable(`${DEFAULT_MAX_UPLOAD_BYTES}`, 'largest file', integer(1, 2 ** 30)),
  STRIP_METADATA: variable(
    'on',
    'on or off: remove location, device and comments',
    choice({ on: true, off: false }),
  ),
  UPLOADS: variable('on', 'on or paused', choice({ on: false, paused: true })),
  ALLOWED_ORIGINS: variable('', 'sites whose pages may upload, as origins with commas', list(origin)),
  HOT_SET_BYTES: variable(
    `${64 * 1024 * 1024}`,
    'memory for images, in each process; 0 for none',
    integer(0, 2 ** 40),
  ),
  WORKERS: variable('1', 'processes on one port', integer(1, 256)),
  TERMS_FILE: variable('', 'text file that replaces the default terms', optional(text)),
  LOG_LEVEL: variable(
    'info',
    LOG_LEVELS.join(', '),
    choice(Object.fromEntries(LOG_LEVELS.map((l) => [l, l]))),
  ),
}

/** Every mistake, one a line. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/** An empty variable counts as not set. Throws `ConfigError`. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const mistakes: string[] = []
  function read<T>(name: keyof typeof VARIABLES, { fallback, parse, isSecret }: Variable<T>): T {
    const given = env[name]?.trim() || fallback
    try {
      return parse(given)
    } catch (error) {
      mistakes.push(`${name}${isSecret ? '' : `=${given}`}: ${(error as Error).message}`)
      return undefined as T
    }
  }
  const v = VARIABLES
  const config: Config = {
    port: read('PORT', v.PORT),
    host: read('HOST', v.HOST),
    baseUrl: read('BASE_URL', v.BASE_URL),
    dataDir: read('DATA_DIR', v.DATA_DIR),
    objectsUrl: read('OBJECTS_URL', v.OBJECTS_URL),
    ledgerUrl: read('LEDGER_URL', v.LEDGER_URL),
    cdnUrl: read('CDN_URL', v.CDN_URL),
    trustedProxies: read('TRUSTED_PROXIES', v.TRUSTED_PROXIES),
    uploadsPerDay: read('UPLOADS_PER_DAY', v.UPLOADS_PER_DAY),
    maxUploadBytes: read('MAX_UPLOAD_BYTES', v.MAX_UPLOAD_BYTES),
    stripMetadata: read('STRIP_METADATA', v.STRIP_METADATA),
    uploadsPaused: read('UPLOADS', v.UPLOADS),
    allowedOrigins: read('ALLOWED_ORIGINS', v.ALLOWED_ORIGINS),
    hotSetBytes: read('HOT_SET_BYTES', v.HOT_SET_BYTES),
    workers: read('WORKERS', v.WORKERS),
    termsFile: read('TERMS_FILE', v.TERMS_FILE),
    logLevel: read('LOG_LEVEL', v.LOG_LEVEL),
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return config
}

/** The table, for people. */
export function describeConfig(): string {
  const width = Math.max(...Object.keys(VARIABLES).map((name) => name.length))
  return Object.entries(VARIABLES)
    .map(
      ([name, { fallback, meaning }]) =>
        `  ${name.padEnd(width)}  ${meaning}${fallback ? ` [${fallback}]` : ''}`,
    )
    .join('\n')
}

function variable<T>(
  fallback: string,
  meaning: string,
  parse: (text: string) => T,
  isSecret = false,
): Variable<T> {
  return { fallback, meaning, parse, isSecret }
}

function text(given: string): string {
  return given
}

function optional<T>(parse: (given: string) => T): (given: string) => T | null {
  return (given) => (given === '' ? null : parse(given))
}

/** `null` for `local`, and for nothing. */
function inDataDir(local: string, parse: (given: string) => string): (given: string) => string | null {
  return (given) => {
    if (given === '' || given === local) return null
    if (given.startsWith(local)) throw new Error(`must be ${local} alone; DATA_DIR says where that is`)
    return parse(given)
  }
}

function list(parse: (given: string) => string): (given: string) => string[] {
  return (given) =>
    given
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parse)
}

function integer(least: number, most: number): (given: string) => number {
  return (given) => {
    const value = Number(given)
    if (/^\d+$/.test(given) && value >= least && value <= most) return value
    throw new Error(`must be a whole number from ${least} to ${most}`)
  }
}

function choice<T>(values: Record<string, T>): (given: string) => T {
  return (given) => {
    if (Object.hasOwn(values, given)) return values[given]
    throw new Error(`must be one of ${Object.keys(values).join(', ')}`)
  }
}

function url(...schemes: string[]): (given: string) => string {
  return (given) => {
    if (!URL.canParse(given)) throw new Error('must be a URL')
    if (schemes.length > 0 && !schemes.includes(new URL(given).protocol)) {
      throw new Error(`must begin with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)
    }
    return given
  }
}

function baseUrl(given: string): string {
  const parsed = URL.canParse(given) ? new URL(given) : null
  const isPlain =
    parsed?.pathname === '/' && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  if (parsed === null || !isPlain || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('must be like https://pics.example, without a path')
  }
  return parsed.origin
}

function origin(given: string): string {
  if (!URL.canParse(given) || new URL(given).origin !== given.replace(/\/$/, '')) {
    throw new Error(`"${given}" is no origin; one is like https://forum.example`)
  }
  return new URL(given).origin
}

const CIDR =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?:\/(?:[0-9]|[12]\d|3[0-2]))?|[0-9a-f:.]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i

function cidr(given: string): string {
  const [address] = given.split('/')
  // The pattern says how it may be written, the URL parser whether it is an address.
  const isAddress = URL.canParse(`http://${address.includes(':') ? `[${address}]` : address}/`)
  if (CIDR.test(given) && isAddress) return given
  throw new Error(`"${given}" is no CIDR; one is like 10.0.0.0/8 or fd00::/8`)
}
