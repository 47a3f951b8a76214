/** Every variable of the server, in one table. `--help` prints it; `parseConfig` reports every mistake at once. */
import { lifetimeOf } from './lifetimes.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, DEFAULT_UPLOADS_PER_DAY } from './protocol.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

interface Variable<T> {
  fallback: string
  meaning: string
  /** Throws an `Error` that says what the value should be. */
  parse(text: string): T
  /** The value may hold a password: it is not printed. */
  isSecret: boolean
}

function variable<T>(
  fallback: string,
  meaning: string,
  parse: (text: string) => T,
  isSecret = false,
): Variable<T> {
  return { fallback, meaning, parse, isSecret }
}

const VARIABLES = {
  PORT: variable('3000', 'port to listen on; 0 takes a free one', integer(0, 65_535)),
  HOST: variable('127.0.0.1', 'address to listen on; 0.0.0.0 or :: for all', text),
  /** Without a trailing slash. `null`: http://localhost and the port. */
  BASE_URL: variable('', 'address that links begin with (default: http://localhost:PORT)', optional(baseUrl)),
  /** Without a trailing slash. `null`: none. */
  ONION_URL: variable(
    '',
    'the same service as an onion service, http://….onion: pages say so in Onion-Location',
    optional(baseUrl),
  ),
  DATA_DIR: variable('./data', 'folder for images, ledger and drafts', text),
  /** `null`: a folder in `dataDir`. */
  OBJECTS_URL: variable(
    'file:',
    'file: is a folder in DATA_DIR; or s3://bucket/prefix?endpoint=…&region=…',
    inDataDir('file:', url('s3:')),
  ),
  /** `null`: a file in `dataDir`. */
  LEDGER_URL: variable(
    'sqlite:',
    'sqlite: is a file in DATA_DIR; or postgres://…',
    inDataDir('sqlite:', url('postgres:', 'postgresql:')),
    true,
  ),
  /** `null`: none. */
  TOMBSTONES_URL: variable(
    '',
    'second place, where deletions survive the disk: file:/folder of another disk, or s3://bucket/prefix?endpoint=…',
    optional(folderOrBucket),
  ),
  /** `null`: no cache in front. */
  CDN_URL: variable(
    '',
    'cache to purge: cloudflare://, fastly://, varnish://, nginx://; on Workers workers-cache://default',
    optional(url('cloudflare:', 'fastly:', 'nginx:', 'varnish:', 'workers-cache:')),
    true,
  ),
  /** `null`: previews are what clients send. */
  PREVIEW_TEMPLATE: variable(
    '',
    'resizer that makes previews: its address, with {url} for the image’s, e.g. https://img.example/insecure/rs:fit:1200:1200/plain/{url}',
    optional(resizerTemplate),
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
  UPLOADS_AT_ONCE: variable(
    '16',
    'uploads of an address that are read at once, in each process; more wait',
    integer(1, 1e9),
  ),
  REFUSALS_PER_DAY: variable('200', 'refused uploads for each address and UTC day', integer(1, 1e9)),
  REFUSED_BYTES_PER_DAY: variable(`${2 ** 30}`, 'their bytes, together', integer(1, 2 ** 50)),
  CONNECTIONS_PER_ADDRESS: variable(
    '128',
    'connections of an address that are served at once, in each process, trusted proxies aside; more wait; 0 for no limit',
    integer(0, 1e9),
  ),
  MAX_UPLOAD_BYTES: variable(`${DEFAULT_MAX_UPLOAD_BYTES}`, 'largest file', integer(1, 2 ** 30)),
  STRIP_METADATA: variable(
    'on',
    'on or off: remove location, device and comments',
    choice({ on: true, off: false }),
  ),
  /** Seconds. `null`: until it is deleted. */
  DEFAULT_EXPIRES: variable(
    '',
    'how long an image stays if its upload does not say: 1h, 1d, 7d, 30d or seconds (default: until it is deleted)',
    optional(lifetime),
  ),
  /** `null`: no limit. */
  MAX_AGE_DAYS: variable(
    '',
    'days that an image stays at most, of those uploaded from then on (default: no limit)',
    optional(integer(1, 36_500)),
  ),
  CONVERT_HEIC: variable(
    'on',
    'on or off: the page makes JPEG of HEIC and JPEG XL; off: it says how to export them',
    choice({ on: true, off: false }),
  ),
  UPLOADS: variable(
    'on',
    'on or paused, until the operator says otherwise',
    choice({ on: 'on', paused: 'paused' } as const),
  ),
  CHALLENGE: variable(
    'off',
    'off, auto or on: proof of work after an address’s first five uploads of the day',
    choice({ off: 'off', auto: 'auto', on: 'on' } as const),
  ),
  CHALLENGE_RATE: variable(
    '1200',
    'with CHALLENGE=auto: uploads of all in an hour that turn it on; 0: none do',
    integer(0, 1e12),
  ),
  DAILY_UPLOADS: variable('0', 'uploads of all each UTC day; 0: no cap', integer(0, 1e12)),
  DAILY_BYTES: variable('0', 'bytes of all uploads each UTC day; 0: no cap', integer(0, 1e15)),
  NETWORK_UPLOADS: variable(
    '0',
    'uploads of a network (/24, or /48 of IPv6) each UTC day; 0: no cap',
    integer(0, 1e12),
  ),
  OPERATOR_LISTEN: variable(
    '',
    'the admin server: host:port, or off (default: a socket in DATA_DIR)',
    adminAddress,
  ),
  /** `null`: as it listens. */
  OPERATOR_URL: variable('', 'where people reach it, if a proxy is between', optional(baseUrl)),
  OPERATOR_TOKEN: variable('', 'opens it to programs', optional(longSecret), true),
  NOTIFY: variable(
    '',
    'who is told what wants a decision, with commas: https://…#whsec_…, ntfy://host/topic, smtp://…?from=…&to=…',
    list(text),
    true,
  ),
  SCAN: variable(
    'off',
    'off, after or before: a scanner looks at pictures after they are published, or before',
    choice({ off: 'off', after: 'after', before: 'before' } as const),
  ),
  /** `null`: scanners fetch what waits. */
  SCANNER_URL: variable(
    '',
    'where pictures are posted to be scanned (default: scanners fetch them from the admin server)',
    optional(scannerUrl),
    true,
  ),
  SCAN_FAULT: variable(
    'hold',
    'publish, hold or refuse: what becomes of a picture without a verdict, with SCAN=before',
    choice({ publish: 'publish', hold: 'hold', refuse: 'refuse' } as const),
  ),
  SCAN_SECONDS: variable('10', 'time for a verdict', integer(1, 3600)),
  SCANNER_TOKEN: variable(
    '',
    'opens the admin server to a scanner, for its work alone',
    optional(longSecret),
    true,
  ),
  /** Hex. `null`: nothing is sealed. */
  EVIDENCE_KEY: variable(
    '',
    'public key that what is removed for child abuse is sealed to, for a year: operator evidence key FILE makes one',
    optional(evidenceKey),
  ),
  UPLOADER_LINKS: variable(
    'on',
    'on or off: for two days the operator finds an uploader’s other uploads, without an address',
    choice({ on: true, off: false }),
  ),
  MIN_FREE_BYTES: variable(
    '0',
    'free on the disk, or no upload is taken; 0: only what the store needs',
    integer(0, 1e15),
  ),
  UNANSWERED_MINUTES: variable(
    '60',
    'with NOTIFY: minutes an urgent report may stay unanswered before uploads pause; 0: never',
    integer(0, 1e6),
  ),
  ALLOWED_ORIGINS: variable('', 'sites whose pages may upload, as origins with commas', list(origin)),
  HOT_SET_BYTES: variable(
    `${64 * 1024 * 1024}`,
    'memory for images, in each process; 0 for none',
    integer(0, 2 ** 40),
  ),
  WORKERS: variable('1', 'processes on one port', integer(1, 256)),
  /** `null`: the default text. */
  TERMS_FILE: variable('', 'text file that replaces the default terms', optional(text)),
  /** `null`: the terms say that no name is given. */
  OPERATOR_NAME: variable('', 'who runs the service, as the terms say it', optional(text)),
  OPERATOR_CONTACT: variable('', 'how to reach them: a mail address, a page, or words', optional(text)),
  LOG_LEVEL: variable(
    'info',
    LOG_LEVELS.join(', '),
    choice(Object.fromEntries(LOG_LEVELS.map((l) => [l, l]))),
  ),
  AWS_ACCESS_KEY_ID: variable('', 'of the bucket in OBJECTS_URL', optional(text), true),
  AWS_SECRET_ACCESS_KEY: variable('', 'likewise', optional(text), true),
  AWS_SESSION_TOKEN: variable('', 'likewise, for keys that are lent', optional(text), true),
  AWS_REGION: variable('', 'likewise, where the URL names no region', optional(text)),
}

/** The variable's name in camel case: `MAX_UPLOAD_BYTES` becomes `maxUploadBytes`. */
type Member<Name extends string> = Name extends `${infer Word}_${infer More}`
  ? `${Lowercase<Word>}${Capitalize<Member<More>>}`
  : Lowercase<Name>

/** The configuration: of each variable what its `parse` returns. */
export type Config = {
  readonly [Name in keyof typeof VARIABLES as Member<Name>]: ReturnType<(typeof VARIABLES)[Name]['parse']>
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
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(
    ([name, { fallback, parse, isSecret }]) => {
      const given = env[name]?.trim() || fallback
      try {
        return [memberOf(name), parse(given)]
      } catch (error) {
        mistakes.push(`${name}${isSecret ? '' : `=${given}`}: ${(error as Error).message}`)
        return [name, undefined]
      }
    },
  )
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return Object.fromEntries(entries)
}

function memberOf(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The table, for people. */
export function describeConfig(): string {
  const variables = Object.entries<Variable<unknown>>(VARIABLES)
  const width = Math.max(...variables.map(([name]) => name.length))
  return variables
    .map(
      ([name, { fallback, meaning }]) =>
        `  ${name.padEnd(width)}  ${meaning}${fallback ? ` [${fallback}]` : ''}`,
    )
    .join('\n')
}

// Parsers of the variables' values.

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

/** As of the parameter `expires`. Unit: seconds. */
function lifetime(given: string): number {
  const seconds = lifetimeOf(given)
  if (seconds === null) throw new Error('must be 1h, 1d, 7d, 30d, or seconds from 60 to 31536000')
  return seconds
}

function choice<const T>(values: Record<string, T>): (given: string) => T {
  return (given) => {
    if (Object.hasOwn(values, given)) return values[given]!
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

function scannerUrl(given: string): string {
  const { username, password } = new URL(url('http:', 'https:')(given))
  try {
    decodeURIComponent(`${username}:${password}`)
  } catch {
    throw new Error('must have %25 for a % in its user or password')
  }
  return given
}

/** A folder by its whole path, or a bucket. */
function folderOrBucket(given: string): string {
  if (/^file:\/(?!\/)./.test(given)) return given
  if (given.startsWith('s3://') && URL.canParse(given)) return given
  throw new Error('must look like file:/mnt/other/pinhole or s3://bucket/prefix?endpoint=https://host')
}

function baseUrl(given: string): string {
  const parsed = URL.canParse(given) ? new URL(given) : null
  const isPlain =
    parsed?.pathname === '/' && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  if (parsed === null || !isPlain || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('must look like https://pics.example, without a path')
  }
  return parsed.origin
}

/** Where a resizer has a picture: `{url}` stands for the image's address. */
function resizerTemplate(given: string): string {
  const [before = '', ...others] = given.split('{url}')
  const parsed = URL.canParse(given) ? new URL(given) : null
  // Behind the origin, or an image's address would choose the host.
  const isBehindOrigin = parsed !== null && before.startsWith(`${parsed.origin}/`)
  const isWhole = others.length === 1 && parsed?.hash === '' && !/[\s"'<>\\]/.test(given)
  if (!isBehindOrigin || !isWhole || !/^https?:$/.test(parsed.protocol)) {
    throw new Error(
      'must look like https://img.example/insecure/rs:fit:1200:1200/plain/{url}, with {url} once, behind the host',
    )
  }
  return given
}

function origin(given: string): string {
  if (!URL.canParse(given) || new URL(given).origin !== given.replace(/\/$/, '')) {
    throw new Error(`"${given}" is not an origin such as https://forum.example`)
  }
  return new URL(given).origin
}

/** Whether a token that is sent to this address is read by nobody else: by TLS, or because it stays on this machine. */
export function isSafeForTokens(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** Where the admin server listens. */
export type AdminAddress =
  | { kind: 'socket' }
  | { kind: 'off' }
  | { kind: 'address'; host: string; port: number }

function adminAddress(given: string): AdminAddress {
  if (given === '') return { kind: 'socket' }
  if (given === 'off') return { kind: 'off' }
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(given)
  const port = Number(match?.[3])
  // Nobody would know which port the system chose.
  if (match === null || port === 0 || port > 65_535)
    throw new Error('must look like 127.0.0.1:3001, or be off')
  return { kind: 'address', host: (match[1] ?? match[2])!, port }
}

function longSecret(given: string): string {
  if (given.length < 24 || /\s/.test(given)) throw new Error('must have 24 characters or more, and no spaces')
  return given
}

/** A point of P-256, uncompressed. */
function evidenceKey(given: string): string {
  if (/^04[0-9a-f]{128}$/i.test(given)) return given.toLowerCase()
  throw new Error('must be what operator evidence key prints: 04 and 128 hex digits')
}

const CIDR =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?:\/(?:[0-9]|[12]\d|3[0-2]))?|[0-9a-f:.]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i

function cidr(given: string): string {
  const [address = ''] = given.split('/')
  // The pattern says how it may be written, the URL parser whether it is an address.
  const isAddress = URL.canParse(`http://${address.includes(':') ? `[${address}]` : address}/`)
  if (CIDR.test(given) && isAddress) return given
  throw new Error(`"${given}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`)
}
