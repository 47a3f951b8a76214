/** What an S3 store's answers mean. */
import { StoreFull, StoreUnavailable } from '../object-store.ts'
import { textOf } from './xml.ts'

/** An answer that is not a success. Its body has been read. */
export interface Failure {
  status: number
  /** The store's error code, e.g. `NoSuchKey`. Empty if the answer named none: then it is hardly the store's. */
  code: string
  message: string
}

/** Codes that a retry may cure although the status speaks of the request's fault. */
const RETRYABLE_CODES = [
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'OperationAborted',
  'ConditionalRequestConflict',
  // The bytes or their checksum changed on the way.
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
]

/** Ceph: `QuotaExceeded`. MinIO: `XMinioStorageFull`, `XMinioAdminBucketQuotaExceeded`. */
const FULL_CODES = /QuotaExceeded|StorageFull|InsufficientStorage|InsufficientCapacity|NoSpaceLeft/i

export function readFailure(status: number, body: string): Failure {
  return {
    status,
    code: textOf(body, 'Code') ?? '',
    message: (textOf(body, 'Message') ?? '').slice(0, 500),
  }
}

export function isFull({ status, code }: Failure): boolean {
  return status === 507 || FULL_CODES.test(code)
}

/** True if the same request may succeed later. */
export function isRetryable(failure: Failure): boolean {
  if (isFull(failure)) return false
  if (failure.status === 501) return false
  return (
    failure.status >= 500 ||
    [408, 425, 429].includes(failure.status) ||
    RETRYABLE_CODES.includes(failure.code)
  )
}

/** Nobody else's 404 counts: one from a proxy, or for a whole bucket, says nothing about an image. */
export function isAbsent({ status, code }: Failure): boolean {
  return status === 404 && code === 'NoSuchKey'
}

/** What to throw for an answer that the caller has no use for. `doing`: for the log, e.g. `GET an image`. */
export function errorOf(failure: Failure, doing: string): Error {
  const { status, code, message } = failure
  const cause = new Error(`S3 answered ${[status, code, message].filter(Boolean).join(' ')} (${doing})`)
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
