/** Reads images from R2. */
import { toHex } from '../../bytes.ts'
import { CHUNK_BYTES } from '../../formats/image.ts'
import { MAX_ATTEMPTS } from '../bucket/markers.ts'
import { type ObjectRef, recordOf } from '../bucket/store.ts'
import {
  DamagedObject,
  type ImageRecord,
  previewRange,
  resolveRange,
  type Selection,
  type StoredImage,
  StoreUnavailable,
  storedSize,
} from '../object-store.ts'
import type { R2Object, R2ObjectBody } from './binding.ts'
import { type Bucket, headOf } from './bucket.ts'
import { digestOf, runningDigest } from './runtime.ts'

/** Implements `ObjectStore.open`. */
export async function openObject(
  bucket: Bucket,
  ref: ObjectRef,
  selection: Selection = 'all',
): Promise<StoredImage | null> {
  if (selection === 'all' || selection === 'stored') return openWhole(bucket, ref, selection)
  const { id, key } = ref
  // R2's error for a range past the end lacks the object's size, so the record is read first.
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const object = await bucket.head(key)
    const record = object && recordIn(object, id)
    if (object === null || record === null) return null
    const wanted = typeof selection === 'function' ? selection(record) : selection
    if (wanted === 'all' || wanted === 'stored') return openWhole(bucket, ref, wanted)
    const isNone = wanted === 'nothing' || (wanted === 'preview' && record.preview === undefined)
    if (isNone) return { record, body: new Uint8Array() }
    const range = wanted === 'preview' ? previewRange(record)! : resolveRange(wanted, record.size)
    assertSize(record, object.size)
    const length = range.last - range.first + 1
    const part = await bucket.get(key, object.etag, { offset: range.first, length })
    // The object was replaced meanwhile: read its record again.
    if (part === null) continue
    if (wanted === 'preview') return { record, body: await checkedBytes(part, record, record.preview!) }
    if (length > CHUNK_BYTES) return { record, range, body: part.body }
    return { record, range, body: new Uint8Array(await bytesOf(part)) }
  }
  throw new StoreUnavailable({
    cause: new Error('the image could not be read: it kept changing concurrently'),
  })
}

/** `stored` is not verified here: callers that copy all stored bytes verify them. */
async function openWhole(
  bucket: Bucket,
  { id, key }: ObjectRef,
  wanted: 'all' | 'stored',
): Promise<StoredImage | null> {
  const object = await bucket.get(key)
  if (object === null) return null
  let image: StoredImage | null = null
  try {
    const record = recordIn(object, id)
    if (record !== null) {
      assertSize(record, object.size)
      image = { record, body: wanted === 'stored' ? object.body : await bodyOf(object, record) }
    }
    return image
  } finally {
    if (image === null) await object.body.cancel().catch(() => {})
  }
}

async function bodyOf(object: R2ObjectBody, record: ImageRecord): Promise<StoredImage['body']> {
  if (record.size > CHUNK_BYTES) return checked(object.body, record)
  return checkedBytes(object, record, record)
}

/** The first `size` bytes, verified. */
async function checkedBytes(
  object: R2ObjectBody,
  { id }: ImageRecord,
  { size, sha256 }: { size: number; sha256: string },
): Promise<Uint8Array> {
  const bytes = new Uint8Array(await bytesOf(object), 0, size)
  if ((await digestOf([bytes])) !== sha256) throw new DamagedObject(id)
  return bytes
}

/** Throws `StoreUnavailable` if the connection is lost. */
function bytesOf(object: R2ObjectBody): Promise<ArrayBuffer> {
  return object.arrayBuffer().catch((cause) => {
    throw new StoreUnavailable({ cause })
  })
}

/** A stream that errors before its last bytes unless all bytes match the record. */
function checked(body: ReadableStream<Uint8Array>, record: ImageRecord): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const running = runningDigest('SHA-256')
  let read = 0
  let last: Uint8Array | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) {
          // The image may be followed by its preview.
          const chunk = value.subarray(0, record.size - read)
          read += chunk.length
          // Before the chunk is passed on, since its receiver may detach the buffer.
          await running.update(chunk)
          // The last chunk is withheld until the digest is known.
          if (read < record.size) controller.enqueue(chunk)
          else last = chunk
          if (read < record.size) return
        }
        if (toHex(await running.end()) !== record.sha256) throw new DamagedObject(record.id)
        controller.enqueue(last!)
        controller.close()
        await reader.cancel().catch(() => {})
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function assertSize(record: ImageRecord, size: number): void {
  if (storedSize(record) === size) return
  throw new DamagedObject(record.id, { cause: new Error(`${size} bytes, expected ${storedSize(record)}`) })
}

/** `null` for a marker. */
function recordIn(object: R2Object, id: string): ImageRecord | null {
  return recordOf(headOf(object), id)
}
