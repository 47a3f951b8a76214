/** Reads images. */
import { PIECE_BYTES } from '../../formats/image.ts'
import { MAX_ROUNDS } from '../bucket/markers.ts'
import {
  type ByteRange,
  DamagedObject,
  type ImageRecord,
  previewRange,
  resolveRange,
  type Selection,
  type StoredImage,
  StoreUnavailable,
  storedSize,
} from '../object-store.ts'
import type { R2ObjectBody } from './binding.ts'
import type { Bucket } from './bucket.ts'
import { type Found, foundIn } from './found.ts'
import { digestOf, runningDigest } from './runtime.ts'

/** Where an image is. */
export interface Place {
  bucket: Bucket
  id: string
  key: string
}

export async function findAt({ bucket, key }: Place): Promise<Found | null> {
  const object = await bucket.head(key)
  return object && foundIn(object)
}

/** `null` for a marker: its image is gone. */
export async function recordAt(place: Place): Promise<ImageRecord | null> {
  const found = await findAt(place)
  return found === null || found.marker !== null ? null : found.record(place.id)
}

export async function openObject(place: Place, selection: Selection = 'all'): Promise<StoredImage | null> {
  if (selection === 'all' || selection === 'stored') return openWhole(place, selection)
  // A range past the end is answered without the size, so the record is looked at first.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await findAt(place)
    if (found === null || found.marker !== null) return null
    const record = found.record(place.id)
    const wanted = typeof selection === 'function' ? selection(record) : selection
    if (wanted === 'all' || wanted === 'stored') return openWhole(place, wanted)
    const isNone = wanted === 'nothing' || (wanted === 'preview' && record.preview === undefined)
    if (isNone) return { record, body: new Uint8Array() }
    const image =
      wanted === 'preview'
        ? await openPreview(place, found, record)
        : await openRange(place, found, record, wanted)
    if (image !== null) return image
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be read') })
}

/** `null` if the object is another one by now. */
async function openRange(
  { bucket, id, key }: Place,
  { etag, size }: Found,
  record: ImageRecord,
  asked: ByteRange,
): Promise<StoredImage | null> {
  const range = resolveRange(asked, record.size)
  assertSize(id, record, size)
  const length = range.last - range.first + 1
  const object = await bucket.get(key, etag, { offset: range.first, length })
  if (object === null) return null
  if (length > PIECE_BYTES) return { record, range, body: object.body }
  return { record, range, body: new Uint8Array(await object.arrayBuffer()) }
}

/** The preview of a record that has one. `null` if the object has been replaced since. */
async function openPreview(
  { bucket, id, key }: Place,
  { etag, size }: Found,
  record: ImageRecord,
): Promise<StoredImage | null> {
  assertSize(id, record, size)
  const preview = record.preview!
  const object = await bucket.get(key, etag, { offset: previewRange(record)!.first, length: preview.size })
  if (object === null) return null
  const body = new Uint8Array(await object.arrayBuffer())
  if ((await digestOf(only(body))) !== preview.sha256) throw new DamagedObject(id)
  return { record, body }
}

/** `stored`: whoever copies it compares its digests. */
async function openWhole(
  { bucket, id, key }: Place,
  wanted: 'all' | 'stored' = 'all',
): Promise<StoredImage | null> {
  const object = await bucket.get(key)
  if (object === null) return null
  const record = await recordIn(object, id)
  return record && { record, body: wanted === 'stored' ? object.body : await bodyOf(object, record) }
}

/** `null` for a marker. Lets go of a body that nobody is to read. */
async function recordIn(object: R2ObjectBody, id: string): Promise<ImageRecord | null> {
  try {
    const found = foundIn(object)
    if (found.marker === null) {
      const record = found.record(id)
      assertSize(id, record, object.size)
      return record
    }
  } catch (error) {
    await object.body.cancel().catch(() => {})
    throw error
  }
  await object.body.cancel().catch(() => {})
  return null
}

/** A read of all of it checks its digest. */
export async function verifyObject(place: Place): Promise<ImageRecord | null> {
  const image = await openWhole(place)
  if (image?.body instanceof ReadableStream) for await (const _ of image.body);
  if (image?.record.preview !== undefined) await openObject(place, 'preview')
  return image?.record ?? null
}

async function bodyOf(object: R2ObjectBody, record: ImageRecord): Promise<StoredImage['body']> {
  if (record.size > PIECE_BYTES) return checked(object.body, record)
  const bytes = new Uint8Array(await object.arrayBuffer(), 0, record.size)
  const digest = await digestOf(only(bytes))
  if (digest !== record.sha256) throw new DamagedObject(record.id)
  return bytes
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
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

function assertSize(id: string, record: ImageRecord, size: number): void {
  if (storedSize(record) === size) return
  throw new DamagedObject(id, { cause: new Error(`${size} bytes, expected ${storedSize(record)}`) })
}
