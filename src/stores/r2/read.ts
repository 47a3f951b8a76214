/** Reads images. */
import { PIECE_BYTES } from '../../formats/image.ts'
import { MAX_ROUNDS } from '../bucket/markers.ts'
import { type Place, recordOf } from '../bucket/store.ts'
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
import { type Bucket, foundIn } from './bucket.ts'
import { digestOf, runningDigest } from './runtime.ts'

/** As `ObjectStore.open`. */
export async function openObject(
  bucket: Bucket,
  place: Place,
  selection: Selection = 'all',
): Promise<StoredImage | null> {
  if (selection === 'all' || selection === 'stored') return openWhole(bucket, place, selection)
  const { id, key } = place
  // A range past the end is answered without the size, so the record is looked at first.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const object = await bucket.head(key)
    const record = object && recordIn(object, id)
    if (object === null || record === null) return null
    const wanted = typeof selection === 'function' ? selection(record) : selection
    if (wanted === 'all' || wanted === 'stored') return openWhole(bucket, place, wanted)
    const isNone = wanted === 'nothing' || (wanted === 'preview' && record.preview === undefined)
    if (isNone) return { record, body: new Uint8Array() }
    const range = wanted === 'preview' ? previewRange(record)! : resolveRange(wanted, record.size)
    assertSize(record, object.size)
    const length = range.last - range.first + 1
    const part = await bucket.get(key, object.etag, { offset: range.first, length })
    // The object was replaced since: read its record again.
    if (part === null) continue
    if (wanted === 'preview') return { record, body: await checkedBytes(part, record, record.preview!) }
    if (length > PIECE_BYTES) return { record, range, body: part.body }
    return { record, range, body: new Uint8Array(await part.arrayBuffer()) }
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be read') })
}

/** `stored`: whoever copies it compares its digests. */
async function openWhole(
  bucket: Bucket,
  { id, key }: Place,
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
  if (record.size > PIECE_BYTES) return checked(object.body, record)
  return checkedBytes(object, record, record)
}

/** The first `size` bytes. */
async function checkedBytes(
  object: R2ObjectBody,
  { id }: ImageRecord,
  { size, sha256 }: { size: number; sha256: string },
): Promise<Uint8Array> {
  const bytes = new Uint8Array(await object.arrayBuffer(), 0, size)
  if ((await digestOf([bytes])) !== sha256) throw new DamagedObject(id)
  return bytes
}

/** Ends in an error before its last bytes unless they are those of the record. */
function checked(body: ReadableStream<Uint8Array>, record: ImageRecord): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const running = runningDigest()
  let read = 0
  let last: Uint8Array | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) {
          // Behind the image there may be its preview.
          const piece = value.subarray(0, record.size - read)
          read += piece.length
          // Before it is handed on: whoever has it may detach it.
          await running.update(piece)
          // The last piece is held back until the digest is known.
          if (read < record.size) controller.enqueue(piece)
          else last = piece
          if (read < record.size) return
        }
        if (read !== record.size || (await running.end()) !== record.sha256)
          throw new DamagedObject(record.id)
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
  return recordOf(foundIn(object), id)
}
