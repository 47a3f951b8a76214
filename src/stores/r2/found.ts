/** What is under a key, without its bytes. */
import { MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { cacheControlOf, decodeRecord, encodeRecord, RECORD_NAME } from '../bucket/record.ts'
import type { ImageRecord } from '../object-store.ts'
import type { R2Object, R2PutOptions } from './binding.ts'

export interface Found {
  etag: string
  /** Unit: bytes. */
  size: number
  /** The text of the marker. `null` for an image. */
  marker: string | null
  /** Which release brought it back. `null` if none did. */
  release: string | null
  /** Epoch milliseconds, by the bucket's clock. */
  modifiedAt: number
  /** All of it, as it was put. */
  metadata: Record<string, string>
  /** Throws `DamagedObject` if the object carries no sound record of `id`. */
  record(id: string): ImageRecord
}

export function foundIn({ etag, size, uploaded, customMetadata = {} }: R2Object): Found {
  return {
    etag,
    size,
    marker: customMetadata[MARKER_NAME] ?? null,
    release: customMetadata[RELEASE_NAME] ?? null,
    modifiedAt: uploaded.getTime(),
    metadata: customMetadata,
    record: (id) => decodeRecord(id, customMetadata[RECORD_NAME] ?? null),
  }
}

/** Options of a put of an image, without its condition. `whole`: SHA-256 of image and preview, if it is known. */
export function optionsOf(
  record: ImageRecord,
  whole: string | undefined,
  more?: Record<string, string>,
): R2PutOptions {
  const sha256 = record.preview === undefined ? record.sha256 : whole
  return {
    ...(sha256 !== undefined && { sha256 }),
    httpMetadata: {
      contentType: record.type,
      cacheControl: cacheControlOf(record),
    },
    customMetadata: { [RECORD_NAME]: encodeRecord(record), ...more },
  }
}

/** Options of a put of a marker. */
export function markerOptions(says: string): R2PutOptions {
  return { httpMetadata: { cacheControl: 'no-store' }, customMetadata: { [MARKER_NAME]: says } }
}
