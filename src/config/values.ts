/** How the values of variables are read. Each throws an `Error` that says what the value should be. */
import { lifetimeOf } from '../lifetimes.ts'

export function text(given: string): string {
  return given
}

export function optional<T>(parse: (given: string) => T): (given: string) => T | null {
  return (given) => (given === '' ? null : parse(given))
}

/** `null` for `local`, and for nothing. */
export function inDataDir(local: string, parse: (given: string) => string): (given: string) => string | null {
  return (given) => {
    if (given === '' || given === local) return null
    if (given.startsWith(local)) throw new Error(`must be ${local} alone; DATA_DIR says where that is`)
    return parse(given)
  }
}

export function list(parse: (given: string) => string): (given: string) => string[] {
  return (given) =>
    given
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parse)
}

export function integer(least: number, most: number): (given: string) => number {
  return (given) => {
    const value = Number(given)
    if (/^\d+$/.test(given) && value >= least && value <= most) return value
    throw new Error(`must be a whole number from ${least} to ${most}`)
  }
}

/** As of the parameter `expires`. Unit: seconds. */
export function lifetime(given: string): number {
  const seconds = lifetimeOf(given)
  if (seconds === null) throw new Error('must be 1h, 1d, 7d, 30d, or seconds from 60 to 31536000')
  return seconds
}

/** Unit: seconds. */
export function days(given: string): number {
  return integer(1, 36_500)(given) * 86_400
}

export function choice<const T>(values: Record<string, T>): (given: string) => T {
  return (given) => {
    if (Object.hasOwn(values, given)) return values[given]!
    throw new Error(`must be one of ${Object.keys(values).join(', ')}`)
  }
}

export function url(...schemes: string[]): (given: string) => string {
  return (given) => {
    if (!URL.canParse(given)) throw new Error('must be a URL')
    if (schemes.length > 0 && !schemes.includes(new URL(given).protocol)) {
      throw new Error(`must begin with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)
    }
    return given
  }
}

/** A folder by its whole path, or a bucket. */
export function folderOrBucket(given: string): string {
  if (/^file:\/(?!\/)./.test(given)) return given
  if (given.startsWith('s3://') && URL.canParse(given)) return given
  throw new Error('must look like file:/mnt/other/pinhole or s3://bucket/prefix?endpoint=https://host')
}

export function baseUrl(given: string): string {
  const parsed = URL.canParse(given) ? new URL(given) : null
  const isPlain =
    parsed?.pathname === '/' && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  if (parsed === null || !isPlain || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('must look like https://pics.example, without a path')
  }
  return parsed.origin
}

/** Where a resizer has a picture: `{url}` stands for the image's address. */
export function resizerTemplate(given: string): string {
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

export function origin(given: string): string {
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

export function adminAddress(given: string): AdminAddress {
  if (given === '') return { kind: 'socket' }
  if (given === 'off') return { kind: 'off' }
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(given)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new Error('must look like 127.0.0.1:3001, or be off')
  return { kind: 'address', host: (match[1] ?? match[2])!, port }
}

export function longSecret(given: string): string {
  if (given.length < 24 || /\s/.test(given)) throw new Error('must have 24 characters or more, and no spaces')
  return given
}

/** A point of P-256, uncompressed. */
export function evidenceKey(given: string): string {
  if (/^04[0-9a-f]{128}$/i.test(given)) return given.toLowerCase()
  throw new Error('must be what operator evidence key prints: 04 and 128 hex digits')
}

const CIDR =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?:\/(?:[0-9]|[12]\d|3[0-2]))?|[0-9a-f:.]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i

export function cidr(given: string): string {
  const [address = ''] = given.split('/')
  // The pattern says how it may be written, the URL parser whether it is an address.
  const isAddress = URL.canParse(`http://${address.includes(':') ? `[${address}]` : address}/`)
  if (CIDR.test(given) && isAddress) return given
  throw new Error(`"${given}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`)
}
