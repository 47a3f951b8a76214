/** Encodes an image's record as user metadata of its object, in S3 and in R2. */
import { parseJsonObject } from '../../json.ts'
import { IMAGE_TYPES, PREVIEW_TYPES, RAW_MAX_AGE_SECONDS } from '../../protocol.ts'
import { DamagedObject, type ImageRecord, type Preview } from '../object-store.ts'

export const RECORD_NAME = 'record'

const SHA256 = /^[0-9a-f]{64}$/

/** `Cache-Control` of the object, for direct reads of the bucket. Images that expire must not be cached. */
export function cacheControlOf({ expiresAt }: ImageRecord): string {
  return expiresAt === undefined ? `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable` : 'no-store'
}

/** Compact JSON with everything but printable ASCII escaped, since header values can't safely carry anything else. */
export function encodeRecord(record: ImageRecord): string {
  return JSON.stringify(record).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Throws `DamagedObject` unless `text` is the record of `id`. */
export function decodeRecord(id: string, text: string | null): ImageRecord {
  if (text === null) throw new DamagedObject(id, { cause: new Error('the object has no record') })
  const record = parseJsonObject(text)
  if (record === null || record.id !== id || !isRecord(record)) {
    throw new DamagedObject(id, { cause: new Error('the record is invalid or belongs to another image') })
  }
  return record
}

function isRecord(record: Partial<ImageRecord>): record is ImageRecord {
  return (
    IMAGE_TYPES.includes(record.type as never) &&
    [record.size, record.width, record.height].every((count) => Number.isSafeInteger(count) && count! >= 0) &&
    typeof record.animated === 'boolean' &&
    [record.sha256, record.sentSha256, record.keySha256].every((text) => SHA256.test(String(text))) &&
    typeof record.createdAt === 'string' &&
    (record.expiresAt === undefined || !Number.isNaN(Date.parse(record.expiresAt))) &&
    (record.preview === undefined || isPreview(record.preview))
  )
}

function isPreview(preview: Partial<Preview> | null): boolean {
  return (
    PREVIEW_TYPES.includes(preview?.type as never) &&
    [preview?.size, preview?.width, preview?.height].every(
      (count) => Number.isSafeInteger(count) && count! >= 0,
    ) &&
    SHA256.test(String(preview?.sha256))
  )
}
