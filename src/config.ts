/** Every variable of the server, in one table. `--help` prints it; `parseConfig` reports every mistake at once. */
import {
  adminAddress,
  baseUrl,
  choice,
  cidr,
  days,
  evidenceKey,
  folderOrBucket,
  inDataDir,
  integer,
  lifetime,
  list,
  longSecret,
  optional,
  origin,
  resizerTemplate,
  text,
  url,
} from './config/values.ts'
import { ConfigError, type Variable, variable } from './config/variable.ts'
import { DEFAULT_MAX_UPLOAD_BYTES, DEFAULT_UPLOADS_PER_DAY } from './protocol.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** By their names in `Config`. */
const VARIABLES = {
  port: variable('PORT', '3000', 'port to listen on; 0 takes a free one', integer(0, 65_535)),
  host: variable('HOST', '127.0.0.1', 'address to listen on; 0.0.0.0 or :: for all', text),
  /** Without a trailing slash. `null`: http://localhost and the port. */
  baseUrl: variable(
    'BASE_URL',
    '',
    'address that links begin with (default: http://localhost:PORT)',
    optional(baseUrl),
  ),
  /** Without a trailing slash. `null`: none. */
  onionUrl: variable(
    'ONION_URL',
    '',
    'the same service as an onion service, http://….onion: pages say so in Onion-Location',
    optional(baseUrl),
  ),
  dataDir: variable('DATA_DIR', './data', 'folder for images, ledger and drafts', text),
  /** `null`: a folder in `dataDir`. */
  objectsUrl: variable(
    'OBJECTS_URL',
    'file:',
    'file: is a folder in DATA_DIR; or s3://bucket/prefix?endpoint=…&region=…',
    inDataDir('file:', url('s3:')),
  ),
  /** `null`: a file in `dataDir`. */
  ledgerUrl: variable(
    'LEDGER_URL',
    'sqlite:',
    'sqlite: is a file in DATA_DIR; or postgres://…',
    inDataDir('sqlite:', url('postgres:', 'postgresql:')),
    true,
  ),
  /** `null`: none. */
  tombstonesUrl: variable(
    'TOMBSTONES_URL',
    '',
    'second place, where deletions survive the disk: file:/folder of another disk, or s3://bucket/prefix?endpoint=…',
    optional(folderOrBucket),
  ),
  /** `null`: no cache in front. */
  cdnUrl: variable(
    'CDN_URL',
    '',
    'cache to purge: cloudflare://, fastly://, varnish://, nginx://; on Workers workers-cache://default',
    optional(url('cloudflare:', 'fastly:', 'nginx:', 'varnish:', 'workers-cache:')),
    true,
  ),
  /** `null`: previews are what clients send. */
  previewTemplate: variable(
    'PREVIEW_TEMPLATE',
    '',
    'resizer that makes previews: its address, with {url} for the image’s, e.g. https://img.example/insecure/rs:fit:1200:1200/plain/{url}',
    optional(resizerTemplate),
  ),
  trustedProxies: variable(
    'TRUSTED_PROXIES',
    '',
    'proxies whose X-Forwarded-For is believed, as CIDRs with commas',
    list(cidr),
  ),
  uploadsPerDay: variable(
    'UPLOADS_PER_DAY',
    `${DEFAULT_UPLOADS_PER_DAY}`,
    'uploads for each address and UTC day',
    integer(1, 1e9),
  ),
  uploadsAtOnce: variable(
    'UPLOADS_AT_ONCE',
    '16',
    'uploads of an address that are read at once, in each process; more wait',
    integer(1, 1e9),
  ),
  refusalsPerDay: variable(
    'REFUSALS_PER_DAY',
    '200',
    'refused uploads for each address and UTC day',
    integer(1, 1e9),
  ),
  refusedBytesPerDay: variable(
    'REFUSED_BYTES_PER_DAY',
    `${2 ** 30}`,
    'their bytes, together',
    integer(1, 2 ** 50),
  ),
  connectionsPerAddress: variable(
    'CONNECTIONS_PER_ADDRESS',
    '128',
    'connections of an address that are served at once, in each process, trusted proxies aside; more wait; 0 for no limit',
    integer(0, 1e9),
  ),
  maxUploadBytes: variable(
    'MAX_UPLOAD_BYTES',
    `${DEFAULT_MAX_UPLOAD_BYTES}`,
    'largest file',
    integer(1, 2 ** 30),
  ),
  stripMetadata: variable(
    'STRIP_METADATA',
    'on',
    'on or off: remove location, device and comments',
    choice({ on: true, off: false }),
  ),
  /** Seconds. `null`: until it is deleted. */
  defaultLifetime: variable(
    'DEFAULT_EXPIRES',
    '',
    'how long an image stays if its upload does not say: 1h, 1d, 7d, 30d or seconds (default: until it is deleted)',
    optional(lifetime),
  ),
  /** Seconds. `null`: no limit. */
  longestLifetime: variable(
    'MAX_AGE_DAYS',
    '',
    'days that an image stays at most, of those uploaded from then on (default: no limit)',
    optional(days),
  ),
  convertsHeic: variable(
    'CONVERT_HEIC',
    'on',
    'on or off: the page makes JPEG of HEIC and JPEG XL; off: it says how to export them',
    choice({ on: true, off: false }),
  ),
  uploadsPaused: variable(
    'UPLOADS',
    'on',
    'on or paused, until the operator says otherwise',
    choice({ on: false, paused: true }),
  ),
  challenge: variable(
    'CHALLENGE',
    'off',
    'off, auto or on: proof of work after an address’s first five uploads of the day',
    choice({ off: 'off', auto: 'auto', on: 'on' } as const),
  ),
  challengeRate: variable(
    'CHALLENGE_RATE',
    '1200',
    'with CHALLENGE=auto: uploads of all in an hour that turn it on; 0: none do',
    integer(0, 1e12),
  ),
  dailyUploads: variable('DAILY_UPLOADS', '0', 'uploads of all each UTC day; 0: no cap', integer(0, 1e12)),
  dailyBytes: variable('DAILY_BYTES', '0', 'bytes of all uploads each UTC day; 0: no cap', integer(0, 1e15)),
  networkUploads: variable(
    'NETWORK_UPLOADS',
    '0',
    'uploads of a network (/24, or /48 of IPv6) each UTC day; 0: no cap',
    integer(0, 1e12),
  ),
  operatorListen: variable(
    'OPERATOR_LISTEN',
    '',
    'the admin server: host:port, or off (default: a socket in DATA_DIR)',
    adminAddress,
  ),
  /** `null`: as it listens. */
  operatorUrl: variable(
    'OPERATOR_URL',
    '',
    'where people reach it, if a proxy is between',
    optional(baseUrl),
  ),
  operatorToken: variable('OPERATOR_TOKEN', '', 'opens it to programs', optional(longSecret), true),
  notify: variable(
    'NOTIFY',
    '',
    'who is told what wants a decision, with commas: https://…#whsec_…, ntfy://host/topic, smtp://…?from=…&to=…',
    list(text),
    true,
  ),
  scan: variable(
    'SCAN',
    'off',
    'off, after or before: a scanner looks at pictures after they are published, or before',
    choice({ off: 'off', after: 'after', before: 'before' } as const),
  ),
  /** `null`: scanners fetch what waits. */
  scannerUrl: variable(
    'SCANNER_URL',
    '',
    'where pictures are posted to be scanned (default: scanners fetch them from the admin server)',
    optional(url('http:', 'https:')),
    true,
  ),
  scanFault: variable(
    'SCAN_FAULT',
    'hold',
    'publish, hold or refuse: what becomes of a picture without a verdict, with SCAN=before',
    choice({ publish: 'publish', hold: 'hold', refuse: 'refuse' } as const),
  ),
  scanSeconds: variable('SCAN_SECONDS', '10', 'time for a verdict', integer(1, 3600)),
  scannerToken: variable(
    'SCANNER_TOKEN',
    '',
    'opens the admin server to a scanner, for its work alone',
    optional(longSecret),
    true,
  ),
  /** Hex. `null`: nothing is sealed. */
  evidenceKey: variable(
    'EVIDENCE_KEY',
    '',
    'public key that what is removed for child abuse is sealed to, for a year: operator evidence key FILE makes one',
    optional(evidenceKey),
  ),
  uploaderLinks: variable(
    'UPLOADER_LINKS',
    'on',
    'on or off: for two days the operator finds an uploader’s other uploads, without an address',
    choice({ on: true, off: false }),
  ),
  minFreeBytes: variable(
    'MIN_FREE_BYTES',
    '0',
    'free on the disk, or no upload is taken; 0: only what the store needs',
    integer(0, 1e15),
  ),
  unansweredMinutes: variable(
    'UNANSWERED_MINUTES',
    '60',
    'with NOTIFY: minutes an urgent report may stay unanswered before uploads pause; 0: never',
    integer(0, 1e6),
  ),
  allowedOrigins: variable(
    'ALLOWED_ORIGINS',
    '',
    'sites whose pages may upload, as origins with commas',
    list(origin),
  ),
  hotSetBytes: variable(
    'HOT_SET_BYTES',
    `${64 * 1024 * 1024}`,
    'memory for images, in each process; 0 for none',
    integer(0, 2 ** 40),
  ),
  workers: variable('WORKERS', '1', 'processes on one port', integer(1, 256)),
  /** `null`: the default text. */
  termsFile: variable('TERMS_FILE', '', 'text file that replaces the default terms', optional(text)),
  /** `null`: the terms say that no name is given. */
  operatorName: variable('OPERATOR_NAME', '', 'who runs the service, as the terms say it', optional(text)),
  operatorContact: variable(
    'OPERATOR_CONTACT',
    '',
    'how to reach them: a mail address, a page, or words',
    optional(text),
  ),
  logLevel: variable(
    'LOG_LEVEL',
    'info',
    LOG_LEVELS.join(', '),
    choice(Object.fromEntries(LOG_LEVELS.map((l) => [l, l]))),
  ),
  awsAccessKeyId: variable('AWS_ACCESS_KEY_ID', '', 'of the bucket in OBJECTS_URL', optional(text), true),
  awsSecretAccessKey: variable('AWS_SECRET_ACCESS_KEY', '', 'likewise', optional(text), true),
  awsSessionToken: variable(
    'AWS_SESSION_TOKEN',
    '',
    'likewise, for keys that are lent',
    optional(text),
    true,
  ),
  awsRegion: variable('AWS_REGION', '', 'likewise, where the URL names no region', optional(text)),
}

/** The configuration. Each member has the type its variable's `parse` returns. */
export type Config = {
  readonly [Member in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Member]['parse']>
}

/** An empty variable counts as not set. Throws `ConfigError`. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const mistakes: string[] = []
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(([member, variable]) => {
    const given = env[variable.name]?.trim() || variable.fallback
    try {
      return [member, variable.parse(given)]
    } catch (error) {
      mistakes.push(`${variable.name}${variable.isSecret ? '' : `=${given}`}: ${(error as Error).message}`)
      return [member, undefined]
    }
  })
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return Object.fromEntries(entries)
}

/** The table, for people. */
export function describeConfig(): string {
  const variables = Object.values<Variable<unknown>>(VARIABLES)
  const width = Math.max(...variables.map(({ name }) => name.length))
  return variables
    .map(
      ({ name, fallback, meaning }) =>
        `  ${name.padEnd(width)}  ${meaning}${fallback ? ` [${fallback}]` : ''}`,
    )
    .join('\n')
}
