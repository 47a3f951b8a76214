/** All environment variables of the server. `--help` prints the table; `parseConfig` reports all mistakes together. */
import { ACCEPTED_LIFETIMES, lifetimeOf } from './lifetimes.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, DEFAULT_UPLOADS_PER_DAY } from './protocol.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

interface Variable<T> {
  fallback: string
  meaning: string
  /** Throws an `Error` that says what the value must be. */
  parse(text: string): T
  /** The value may contain a password and is never printed. */
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
  PORT: variable('3000', 'port to listen on; 0 picks a free port', integer(0, 65_535)),
  HOST: variable('127.0.0.1', 'address to listen on; 0.0.0.0 or :: listens on all interfaces', text),
  /** Without a trailing slash. `null`: http://localhost and the port. */
  BASE_URL: variable('', 'public base URL of all links (default: http://localhost:PORT)', optional(baseUrl)),
  /** Without a trailing slash. `null`: no onion service. */
  ONION_URL: variable(
    '',
    'URL of the same service on Tor, http://….onion; pages announce it in Onion-Location',
    optional(baseUrl),
  ),
  DATA_DIR: variable('./data', 'folder for images, ledger and drafts', text),
  /** `null`: a folder in `dataDir`. */
  OBJECTS_URL: variable(
    'file:',
    'where images are stored: file: for a folder in DATA_DIR, or s3://bucket/prefix?endpoint=…&region=…',
    inDataDir('file:', url('s3:')),
  ),
  /** `null`: a file in `dataDir`. */
  LEDGER_URL: variable(
    'sqlite:',
    'database: sqlite: for a file in DATA_DIR, or postgres://…',
    inDataDir('sqlite:', url('postgres:', 'postgresql:')),
    true,
  ),
  /** `null`: tombstones are kept in the ledger only. */
  TOMBSTONES_URL: variable(
    '',
    'second location for records of deletions, holds and blocks, so that they survive a lost disk: file:/folder on another disk, or s3://bucket/prefix?endpoint=…',
    optional(folderOrBucket),
  ),
  /** `null`: no cache in front. */
  CDN_URL: variable(
    '',
    'CDN or cache to purge: cloudflare://, fastly://, varnish:// or nginx://; on Workers, workers-cache://default',
    optional(url('cloudflare:', 'fastly:', 'nginx:', 'varnish:', 'workers-cache:')),
    true,
  ),
  /** `null`: only the previews that clients send. */
  PREVIEW_TEMPLATE: variable(
    '',
    'URL of an image resizer for previews, where {url} stands for the image’s URL, e.g. https://img.example/insecure/rs:fit:1200:1200/plain/{url}',
    optional(resizerTemplate),
  ),
  TRUSTED_PROXIES: variable(
    '',
    'proxies whose X-Forwarded-For is trusted: comma-separated CIDRs',
    list(cidr),
  ),
  UPLOADS_PER_DAY: variable(`${DEFAULT_UPLOADS_PER_DAY}`, 'uploads per address and UTC day', integer(1, 1e9)),
  UPLOADS_AT_ONCE: variable(
    '16',
    'concurrent uploads per address, in each process; further uploads wait',
    integer(1, 1e9),
  ),
  REFUSALS_PER_DAY: variable('200', 'refused uploads per address and UTC day', integer(1, 1e9)),
  REFUSED_BYTES_PER_DAY: variable(
    `${2 ** 30}`,
    'total bytes of refused uploads per address and UTC day',
    integer(1, 2 ** 50),
  ),
  CONNECTIONS_PER_ADDRESS: variable(
    '128',
    'concurrent connections per address, in each process, except for trusted proxies; further connections wait; 0: no limit',
    integer(0, 1e9),
  ),
  MAX_UPLOAD_BYTES: variable(`${DEFAULT_MAX_UPLOAD_BYTES}`, 'largest file, in bytes', integer(1, 2 ** 30)),
  STRIP_METADATA: variable('on', 'on or off: remove location, device data and comments from images', onOff),
  /** Seconds. `null`: until it is deleted. */
  DEFAULT_EXPIRES: variable(
    '',
    'lifetime of images whose upload does not set one: 1h, 1d, 7d, 30d or seconds (default: until deleted)',
    optional(lifetime),
  ),
  /** `null`: no limit. */
  MAX_AGE_DAYS: variable(
    '',
    'maximum lifetime in days, for images uploaded from now on (default: no limit)',
    optional(integer(1, 36_500)),
  ),
  CONVERT_HEIC: variable(
    'on',
    'on: the upload page converts HEIC and JPEG XL to JPEG; off: it explains how to export them',
    onOff,
  ),
  UPLOADS: variable('on', 'on or paused; the operator can change it at run time', oneOf('on', 'paused')),
  CHALLENGE: variable(
    'off',
    'off, auto or on: require proof of work after the first five uploads per address and day',
    oneOf('off', 'auto', 'on'),
  ),
  CHALLENGE_RATE: variable(
    '1200',
    'with CHALLENGE=auto: uploads per hour, over all addresses, that turn challenges on; 0: never',
    integer(0, 1e12),
  ),
  DAILY_UPLOADS: variable('0', 'uploads per UTC day, over all addresses; 0: no limit', integer(0, 1e12)),
  DAILY_BYTES: variable('0', 'stored bytes per UTC day, over all addresses; 0: no limit', integer(0, 1e15)),
  NETWORK_UPLOADS: variable(
    '0',
    'uploads per network (IPv4: /24, IPv6: /48) and UTC day; 0: no limit',
    integer(0, 1e12),
  ),
  OPERATOR_LISTEN: variable(
    '',
    'where the admin server listens: host:port, or off (default: a socket in DATA_DIR)',
    adminAddress,
  ),
  /** `null`: the address it listens on. */
  OPERATOR_URL: variable('', 'public URL of the admin server, if it is behind a proxy', optional(baseUrl)),
  OPERATOR_TOKEN: variable(
    '',
    'bearer token for programs that use the admin server',
    optional(longSecret),
    true,
  ),
  NOTIFY: variable(
    '',
    'where to send notifications of reports and faults, separated by commas: https://…#whsec_…, ntfy://host/topic, smtp://…?from=…&to=…',
    list(text),
    true,
  ),
  SCAN: variable(
    'off',
    'off, after or before: have a scanner check images after or before they are published',
    oneOf('off', 'after', 'before'),
  ),
  /** `null`: scanners poll the admin server. */
  SCANNER_URL: variable(
    '',
    'URL that images are posted to for scanning (default: scanners fetch them from the admin server)',
    optional(scannerUrl),
    true,
  ),
  SCAN_FAULT: variable(
    'hold',
    'with SCAN=before: publish, hold or refuse images that get no verdict in time',
    oneOf('publish', 'hold', 'refuse'),
  ),
  SCAN_SECONDS: variable('10', 'time limit for a verdict, in seconds', integer(1, 3600)),
  SCANNER_TOKEN: variable(
    '',
    'bearer token for scanners; grants access to scanning only',
    optional(longSecret),
    true,
  ),
  /** Hex. `null`: no evidence is kept. */
  EVIDENCE_KEY: variable(
    '',
    'public key for evidence: images removed for child abuse are kept for a year, encrypted to it; create one with operator evidence key FILE',
    optional(evidenceKey),
  ),
  UPLOADER_LINKS: variable(
    'on',
    'on or off: for two days, let the operator find other uploads by the same uploader, without seeing addresses',
    onOff,
  ),
  MIN_FREE_BYTES: variable(
    '0',
    'refuse uploads when less than this is free on the disk; 0: only what the store itself needs',
    integer(0, 1e15),
  ),
  UNANSWERED_MINUTES: variable(
    '60',
    'with NOTIFY: minutes that an urgent report may stay undecided before uploads are paused; 0: never pause',
    integer(0, 1e6),
  ),
  ALLOWED_ORIGINS: variable('', 'other sites whose pages may upload: comma-separated origins', list(origin)),
  HOT_SET_BYTES: variable(
    `${64 * 1024 * 1024}`,
    'memory cache for images, in bytes per process; 0: no cache',
    integer(0, 2 ** 40),
  ),
  WORKERS: variable('1', 'server processes that share the port', integer(1, 256)),
  /** `null`: the default text. */
  TERMS_FILE: variable('', 'text file that replaces the default terms', optional(text)),
  /** `null`: the terms say that no name is given. */
  OPERATOR_NAME: variable('', 'who runs the service, as named in the terms', optional(text)),
  OPERATOR_CONTACT: variable('', 'how to reach the operator: email address, URL or text', optional(text)),
  LOG_LEVEL: variable('info', LOG_LEVELS.join(', '), oneOf(...LOG_LEVELS)),
  AWS_ACCESS_KEY_ID: variable('', 'access key ID for the S3 buckets', optional(text), true),
  AWS_SECRET_ACCESS_KEY: variable('', 'secret access key for the S3 buckets', optional(text), true),
  AWS_SESSION_TOKEN: variable('', 'session token, with temporary S3 credentials', optional(text), true),
  AWS_REGION: variable('', 'S3 region, unless the bucket’s URL names one', optional(text)),
}

/** The variable's name in camel case: `MAX_UPLOAD_BYTES` becomes `maxUploadBytes`. */
type Member<Name extends string> = Name extends `${infer Word}_${infer More}`
  ? `${Lowercase<Word>}${Capitalize<Member<More>>}`
  : Lowercase<Name>

/** The parsed configuration. */
export type Config = {
  readonly [Name in keyof typeof VARIABLES as Member<Name>]: ReturnType<(typeof VARIABLES)[Name]['parse']>
}

/** All mistakes in the configuration; the message has one per line. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/** Parses the environment. An empty variable counts as unset. Throws `ConfigError`. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const mistakes: string[] = []
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(
    ([name, { fallback, parse, isSecret }]) => {
      const value = env[name]?.trim() || fallback
      try {
        return [memberOf(name), parse(value)]
      } catch (error) {
        mistakes.push(`${name}${isSecret ? '' : `=${value}`}: ${(error as Error).message}`)
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

/** The table of variables in human-readable form. */
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

// Value parsers.

function text(value: string): string {
  return value
}

function optional<T>(parse: (value: string) => T): (value: string) => T | null {
  return (value) => (value === '' ? null : parse(value))
}

/** `null` for `local` alone and for an empty value. */
function inDataDir(local: string, parse: (value: string) => string): (value: string) => string | null {
  return (value) => {
    if (value === '' || value === local) return null
    if (value.startsWith(local)) throw new Error(`must be just ${local}; DATA_DIR sets the location`)
    return parse(value)
  }
}

function list(parse: (value: string) => string): (value: string) => string[] {
  return (value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parse)
}

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= min && number <= max) return number
    throw new Error(`must be a whole number from ${min} to ${max}`)
  }
}

/** Same syntax as the `expires` parameter. Unit: seconds. */
function lifetime(value: string): number {
  const seconds = lifetimeOf(value)
  if (seconds === null) throw new Error(`must be ${ACCEPTED_LIFETIMES}`)
  return seconds
}

function oneOf<const T extends string>(...values: T[]): (value: string) => T {
  return (value) => {
    const known = values.find((each) => each === value)
    if (known !== undefined) return known
    throw new Error(`must be one of ${values.join(', ')}`)
  }
}

function onOff(value: string): boolean {
  return oneOf('on', 'off')(value) === 'on'
}

function url(...schemes: string[]): (value: string) => string {
  return (value) => {
    if (!URL.canParse(value)) throw new Error('must be a URL')
    if (schemes.length > 0 && !schemes.includes(new URL(value).protocol)) {
      throw new Error(`must begin with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)
    }
    return value
  }
}

function scannerUrl(value: string): string {
  const { username, password } = new URL(url('http:', 'https:')(value))
  try {
    decodeURIComponent(`${username}:${password}`)
  } catch {
    throw new Error('must encode % as %25 in its user name or password')
  }
  return value
}

/** A folder by its absolute path, or a bucket. */
function folderOrBucket(value: string): string {
  if (/^file:\/(?!\/)./.test(value)) return value
  if (value.startsWith('s3://') && URL.canParse(value)) return value
  throw new Error('must look like file:/mnt/other/pinhole or s3://bucket/prefix?endpoint=https://host')
}

function baseUrl(value: string): string {
  const parsed = URL.canParse(value) ? new URL(value) : null
  const isPlain =
    parsed?.pathname === '/' && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  if (parsed === null || !isPlain || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('must look like https://pics.example, without a path')
  }
  return parsed.origin
}

/** URL template of a resizer: `{url}` stands for the image's URL. */
function resizerTemplate(value: string): string {
  const [before = '', ...others] = value.split('{url}')
  const parsed = URL.canParse(value) ? new URL(value) : null
  // `{url}` must come after the origin, or the image's URL would choose the host.
  const isAfterOrigin = parsed !== null && before.startsWith(`${parsed.origin}/`)
  const isWhole = others.length === 1 && parsed?.hash === '' && !/[\s"'<>\\]/.test(value)
  if (!isAfterOrigin || !isWhole || !/^https?:$/.test(parsed.protocol)) {
    throw new Error(
      'must look like https://img.example/insecure/rs:fit:1200:1200/plain/{url}, with {url} exactly once, after the host',
    )
  }
  return value
}

function origin(value: string): string {
  if (!URL.canParse(value) || new URL(value).origin !== value.replace(/\/$/, '')) {
    throw new Error(`"${value}" is not an origin such as https://forum.example`)
  }
  return new URL(value).origin
}

/** Whether tokens can safely be sent to this URL: over TLS, or without leaving the machine. */
export function isSafeForTokens(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** Where the admin server listens. */
export type AdminAddress =
  | { kind: 'socket' }
  | { kind: 'off' }
  | { kind: 'address'; host: string; port: number }

function adminAddress(value: string): AdminAddress {
  if (value === '') return { kind: 'socket' }
  if (value === 'off') return { kind: 'off' }
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(value)
  const port = Number(match?.[3])
  // Port 0 is useless: nobody would know which port the system chose.
  if (match === null || port === 0 || port > 65_535)
    throw new Error('must look like 127.0.0.1:3001, or be off')
  return { kind: 'address', host: (match[1] ?? match[2])!, port }
}

function longSecret(value: string): string {
  if (value.length < 24 || /\s/.test(value)) throw new Error('must have at least 24 characters and no spaces')
  return value
}

/** An uncompressed P-256 point. */
function evidenceKey(value: string): string {
  if (/^04[0-9a-f]{128}$/i.test(value)) return value.toLowerCase()
  throw new Error('must be the key printed by operator evidence key: 04 and 128 hex digits')
}

const CIDR =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?:\/(?:[0-9]|[12]\d|3[0-2]))?|[0-9a-f:.]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i

function cidr(value: string): string {
  const [address = ''] = value.split('/')
  // The pattern checks the notation, the URL parser whether it is a valid address.
  const isAddress = URL.canParse(`http://${address.includes(':') ? `[${address}]` : address}/`)
  if (CIDR.test(value) && isAddress) return value
  throw new Error(`"${value}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`)
}
