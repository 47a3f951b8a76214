/** Validates arguments at run time, so that untyped callers get a clear error instead of a broken upload. */
import { ACCEPTED_LIFETIMES, lifetimeOf } from '../lifetimes.ts'
import { IDEMPOTENCY_PATTERN } from '../protocol.ts'
import { MODES, type UploadOptions } from './types.ts'

/** Throws a `TypeError` that names the invalid argument and the accepted values. */
export function checkArguments(file: unknown, options: UploadOptions): void {
  if (!(file instanceof Blob)) throw new TypeError(`file must be a Blob, ${butNot(file)}`)
  const { mode, convert, expires, idempotencyKey, preview, retries, maxBytes } = options
  if (mode !== undefined && !MODES.includes(mode)) {
    throw new TypeError(`mode must be one of ${MODES.join(', ')}, not ${JSON.stringify(mode)}`)
  }
  if (convert !== undefined && typeof convert !== 'boolean')
    throw new TypeError(`convert must be true or false, not ${convert}`)
  if (expires !== undefined && lifetimeOf(`${expires}`) === null)
    throw new TypeError(`expires must be ${ACCEPTED_LIFETIMES}, not ${expires}`)
  // Not repeated in the message: it is a secret.
  if (idempotencyKey !== undefined && !IDEMPOTENCY_PATTERN.test(idempotencyKey))
    throw new TypeError('idempotencyKey must be 22 to 255 ASCII characters')
  if (preview !== undefined && !(preview instanceof Blob))
    throw new TypeError(`preview must be a Blob, ${butNot(preview)}`)
  for (const [name, value] of Object.entries({ retries, maxBytes })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new TypeError(`${name} must be a non-negative integer, not ${value}`)
    }
  }
}

function butNot(file: unknown): string {
  if (typeof file === 'string') return 'not a path: pass `await openAsBlob(path)` (node:fs)'
  if (ArrayBuffer.isView(file) || file instanceof ArrayBuffer) return 'not bytes: pass `new Blob([bytes])`'
  return `not ${file === null ? 'null' : typeof file}`
}
