/** Reads images from their files, and answers none whose bytes changed. Node only. */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import {
  type ByteRange,
  type ContentRange,
  DamagedObject,
  type ImageRecord,
  resolveRange,
  type StoredImage,
} from '../object-store.ts'
import type { HotSet } from './hot-set.ts'
import { decodeTrailer, TRAILER_MAX_BYTES } from './trailer.ts'

/** A stream's reads, and the largest image that is read whole although memory has no room for it. */
const CHUNK_BYTES = 256 * 1024

/** `null` if the file belongs to another id: some file systems ignore case. Throws `DamagedObject`. */
export async function readRecord(handle: FileHandle, id: string): Promise<ImageRecord | null> {
  const { size } = await handle.stat()
  const tail = await readExactly(
    handle,
    Math.max(0, size - TRAILER_MAX_BYTES),
    Math.min(size, TRAILER_MAX_BYTES),
  )
  const record = decodeTrailer(tail, size)
  if (record === null) throw new DamagedObject(id)
  return record.id === id ? record : null
}

/** Closes `handle`: at once, or with the stream it returns. */
export async function openImage(request: {
  handle: FileHandle
  id: string
  path: string
  hotSet: HotSet
  /** Of removals, before `handle` was opened. */
  epoch: number
  range: ByteRange | undefined
}): Promise<StoredImage | null> {
  const { handle, id, path, hotSet, epoch, range } = request
  let streaming = false
  try {
    const stat = await handle.stat()
    const isReserved = hotSet.reserve(stat.size)
    if (isReserved || stat.size <= CHUNK_BYTES + TRAILER_MAX_BYTES) {
      let isUsed = false
      try {
        const whole = await readWhole(handle, id, stat.size)
        if (whole === null) return null
        const { record, bytes } = whole
        const part = range === undefined ? undefined : resolveRange(range, record.size)
        if (!isReserved) return { record, range: part, body: slice(bytes, part) }
        isUsed = true
        const image = hotSet.add({
          stored: { record, body: bytes },
          path,
          seen: epoch,
          reservedBytes: stat.size,
        })
        return { record, range: part, body: slice(bytes, part), release: hotSet.pin(image) }
      } finally {
        if (isReserved && !isUsed) hotSet.unreserve(stat.size)
      }
    }
    const record = await readRecord(handle, id)
    if (record === null) return null
    const part = range === undefined ? undefined : resolveRange(range, record.size)
    if (part !== undefined) await verify(handle, record)
    const body = part === undefined ? streamWhole(handle, record) : streamPart(handle, record, part)
    streaming = true
    return { record, range: part, body }
  } finally {
    if (!streaming) await handle.close()
  }
}

function slice(bytes: Uint8Array, part: ContentRange | undefined): Uint8Array {
  return part === undefined ? bytes : bytes.subarray(part.first, part.last + 1)
}

async function readWhole(handle: FileHandle, id: string, size: number) {
  const file = await readExactly(handle, 0, size)
  const record = decodeTrailer(file.subarray(Math.max(0, size - TRAILER_MAX_BYTES)), size)
  if (record === null) throw new DamagedObject(id)
  if (record.id !== id) return null
  const bytes = file.subarray(0, record.size)
  if (createHash('sha256').update(bytes).digest('hex') !== record.sha256) throw new DamagedObject(id)
  return { record, bytes }
}

/** Throws `DamagedObject` unless the bytes have the record's digest. */
async function verify(handle: FileHandle, record: ImageRecord): Promise<void> {
  const hash = createHash('sha256')
  for (let at = 0; at < record.size; at += CHUNK_BYTES) {
    hash.update(await readExactly(handle, at, Math.min(CHUNK_BYTES, record.size - at)))
  }
  if (hash.digest('hex') !== record.sha256) throw new DamagedObject(record.id)
}

/** Checks the digest before it hands out the last chunk: damaged bytes never end as a whole body. */
function streamWhole(handle: FileHandle, record: ImageRecord): ReadableStream<Uint8Array> {
  const hash = createHash('sha256')
  return streamOf(handle, { first: 0, last: record.size - 1 }, (chunk, isLast) => {
    hash.update(chunk)
    if (isLast && hash.digest('hex') !== record.sha256) throw new DamagedObject(record.id)
  })
}

function streamPart(handle: FileHandle, record: ImageRecord, part: ContentRange): ReadableStream<Uint8Array> {
  return streamOf(handle, part, (chunk) => {
    if (chunk.length === 0) throw new DamagedObject(record.id)
  })
}

function streamOf(
  handle: FileHandle,
  part: ContentRange,
  inspect: (chunk: Uint8Array, isLast: boolean) => void,
): ReadableStream<Uint8Array> {
  let at = part.first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await readExactly(handle, at, Math.min(CHUNK_BYTES, part.last + 1 - at))
          at += chunk.length
          inspect(chunk, at > part.last)
          controller.enqueue(chunk)
          if (at <= part.last) return
          await handle.close()
          controller.close()
        } catch (error) {
          await handle.close().catch(() => {})
          controller.error(error)
        }
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  )
}

/** Exactly `length` bytes, or an error if the file ends before. */
async function readExactly(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) throw new Error('the file ended early')
    filled += bytesRead
  }
  return buffer
}
