/** Interprets an S3 store's responses. Its XML documents are flat, so no parser is needed. */
import { StoreFull, StoreUnavailable } from '../object-store.ts'

/** An unsuccessful response, with its body read. */
export interface Failure {
  status: number
  /** The store's error code, e.g. `NoSuchKey`. If empty, the response is probably not the store's own. */
  code: string
  message: string
  /** Of the request, for the log: e.g. `GET an image`. */
  operation: string
}

/** Codes worth a retry although the status is 4xx. */
const RETRYABLE_CODES = [
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'OperationAborted',
  'ConditionalRequestConflict',
  // Corrupted in transit.
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
]

/** Ceph: `QuotaExceeded`. MinIO: `XMinioStorageFull`, `XMinioAdminBucketQuotaExceeded`. */
const FULL_CODES = /QuotaExceeded|StorageFull|InsufficientStorage|InsufficientCapacity|NoSpaceLeft/i

export function readFailure(status: number, body: string, operation: string): Failure {
  const message = (textOf(body, 'Message') ?? '').slice(0, 500)
  return { status, code: textOf(body, 'Code') ?? '', message, operation }
}

function isFull({ status, code }: Failure): boolean {
  return status === 507 || FULL_CODES.test(code)
}

/** Whether the same request may succeed later. */
export function isRetryable(failure: Failure): boolean {
  const { status, code } = failure
  if (isFull(failure) || status === 501) return false
  return status >= 500 || [408, 425, 429].includes(status) || RETRYABLE_CODES.includes(code)
}

/** Only the store's own 404 for a key counts: a 404 from a proxy, or for a missing bucket, says nothing about an image. */
export function isAbsent({ status, code }: Failure): boolean {
  return status === 404 && code === 'NoSuchKey'
}

/** Converts an unexpected response to an error. */
export function errorOf(failure: Failure): Error {
  const { status, code, message, operation } = failure
  const cause = new Error(`S3 answered ${[status, code, message].filter(Boolean).join(' ')} (${operation})`)
  if (isFull(failure)) return new StoreFull({ cause })
  if (status === 404 || isRetryable(failure)) return new StoreUnavailable({ cause })
  if (status === 401 || status === 403) {
    const reason =
      code === 'RequestTimeTooSkewed'
        ? 'this machine’s clock is wrong'
        : 'check the keys, and that they may read, write, delete and list in this bucket'
    return new Error(`the object store refuses our requests: ${reason}`, { cause })
  }
  if (status >= 300 && status < 400) {
    return new Error('the object store answers with a redirect: check region and endpoint', { cause })
  }
  return new Error('the object store gave an answer that Pinhole does not understand', { cause })
}

/** The text of the first `<name>` element, or `null`. */
export function textOf(xml: string, name: string): string | null {
  const { value, done } = elementsOf(xml, name).next()
  return done === true ? null : unescapeXml(value)
}

/** The inner XML of each `<name>` element. */
export function* elementsOf(xml: string, name: string): Generator<string, undefined> {
  const open = `<${name}>`
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(`</${name}>`, at)
    if (end < 0) return
    yield xml.slice(at + open.length, end)
    at = xml.indexOf(open, end)
  }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
