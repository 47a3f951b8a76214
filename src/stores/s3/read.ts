/** Opens images and ranges of them. Bytes that do not match the record cause an error. */
import { createHash, hash } from 'node:crypto'
import { CHUNK_BYTES } from '../../formats/image.ts'
import { decodeRecord } from '../bucket/record.ts'
import { type ObjectRef, recordOf } from '../bucket/store.ts'
import {
  type ByteRange,
  type ContentRange,
  DamagedObject,
  type ImageRecord,
  previewRange,
  resolveRange,
  type Selection,
  type StoredImage,
  StoreUnavailable,
  storedSize,
} from '../object-store.ts'
import type { S3Client } from './client.ts'
import { headObject, MARKER_HEADER, RECORD_HEADER } from './objects.ts'
import { errorOf, isAbsent } from './response.ts'
import { afterPollPhase, type Reply } from './transport.ts'

interface S3ObjectRef extends ObjectRef {
  client: S3Client
}

const operation = 'GET an image'

async function readRecord({ client, id, key, deadline }: S3ObjectRef): Promise<ImageRecord | null> {
  return recordOf(await headObject(client, key, { deadline }), id)
}

/** Implements `ObjectStore.open`. */
export async function openObject(
  ref: S3ObjectRef,
  selection: Selection = 'all',
): Promise<StoredImage | null> {
  if (typeof selection === 'object' || selection === 'all' || selection === 'stored')
    return openPart(ref, selection)
  // What to open depends on the record, which is read without the image's bytes.
  const record = await readRecord(ref)
  if (record === null) return null
  const wanted = typeof selection === 'function' ? selection(record) : selection
  const preview = wanted === 'preview' ? previewRange(record) : null
  if (preview !== null) return openPart(ref, 'preview', preview)
  if (wanted === 'preview' || wanted === 'nothing') return { record, body: new Uint8Array() }
  return openPart(ref, wanted)
}

/** `requested`: the byte range to request from the store. Default: `part` if it is a range, else the whole object. */
async function openPart(
  ref: S3ObjectRef,
  part: ByteRange | 'all' | 'preview' | 'stored',
  requested: ByteRange | undefined = typeof part === 'object' ? part : undefined,
): Promise<StoredImage | null> {
  const opened = await openReply(ref, requested)
  if (opened === null) return null
  const { reply, record } = opened
  const stored = storedSize(record)
  return cancelOnError(reply, async () => {
    const size = part === 'all' || typeof part === 'object' ? record.size : stored
    // Resolved here because stores disagree on edge cases such as the last 0 bytes.
    const span = requested === undefined ? { first: 0, last: size - 1 } : resolveRange(requested, size)
    if (requested !== undefined && 'suffix' in requested && record.preview !== undefined) {
      // The response has the last bytes of the preview, not of the image.
      reply.body.cancel()
      return openPart(ref, span)
    }
    const requestedLast = requested !== undefined && 'first' in requested ? requested.last : undefined
    const received = { first: span.first, last: Math.min(requestedLast ?? stored, stored - 1) }
    assertSpan(reply, record, received)
    const reader = readerOf(ref, reply, span, received.last - span.last)
    const body = await bodyOf(ref, reader, span, digestOf(record, part, span))
    return typeof part === 'object' ? { record, range: span, body } : { record, body }
  })
}

/** Expected SHA-256 of a part. `null` if the part is not verified here: callers that copy all stored bytes verify them. */
function digestOf(
  { size, sha256, preview }: ImageRecord,
  part: ByteRange | 'all' | 'preview' | 'stored',
  { first, last }: ContentRange,
): string | null {
  if (part === 'preview') return preview?.sha256 ?? ''
  return part !== 'stored' && last - first + 1 === size ? sha256 : null
}

/** `null` if the object is missing or a marker. */
async function openReply(
  ref: S3ObjectRef,
  range?: ByteRange,
): Promise<{ reply: Reply; record: ImageRecord } | null> {
  const { client, id, key, deadline } = ref
  const headers = range === undefined ? undefined : { range: headerOf(range) }
  const { value: reply, failure } = await client.open({
    method: 'GET',
    key,
    headers,
    deadline,
    operation,
  })
  if (failure !== null) {
    if (isAbsent(failure)) return null
    if (failure.status === 416 && range !== undefined) return unsatisfiable(ref, range)
    throw errorOf(failure)
  }
  return cancelOnError(reply, async () => {
    if (reply.header(MARKER_HEADER) === null)
      return { reply, record: decodeRecord(id, reply.header(RECORD_HEADER)) }
    reply.body.cancel()
    return null
  })
}

async function cancelOnError<T>(reply: Reply, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    reply.body.cancel()
    throw error
  }
}

/** Throws the matching error for a 416, or returns `null` if the image is gone. */
async function unsatisfiable(ref: S3ObjectRef, range: ByteRange): Promise<null> {
  const record = await readRecord(ref)
  if (record === null) return null
  resolveRange(range, record.size)
  throw new DamagedObject(ref.id, { cause: new Error('the store has fewer bytes than the record says') })
}

async function bodyOf(
  { id, deadline }: S3ObjectRef,
  reader: BodyReader,
  { first, last }: ContentRange,
  sha256: string | null,
): Promise<StoredImage['body']> {
  const size = last - first + 1
  if (sha256 !== null && size <= CHUNK_BYTES) {
    const bytes = await withDeadline(collect(reader, size), reader, deadline)
    if (hash('sha256', bytes) !== sha256) throw new DamagedObject(id)
    return bytes
  }
  const running = sha256 === null ? null : createHash('sha256')
  return streamOf(reader, size, (chunk, isLast) => {
    running?.update(chunk)
    if (isLast && running !== null && running.digest('hex') !== sha256) throw new DamagedObject(id)
  })
}

/** `surplus`: number of extra bytes at the end of the response, such as the preview after an image. */
function readerOf(
  { client, id, key }: S3ObjectRef,
  reply: Reply,
  { first, last }: ContentRange,
  surplus = 0,
): BodyReader {
  const etag = reply.header('etag') ?? ''
  const resume = (offset: number) => openRest(client, key, etag, { first: first + offset, last })
  return resumingReader({ id, first: reply, size: last - first + 1, surplus, resume })
}

/** Cancels `reader` and throws `StoreUnavailable` when the deadline passes. */
async function withDeadline<T>(
  reading: Promise<T>,
  reader: BodyReader,
  deadline: number | undefined,
): Promise<T> {
  if (deadline === undefined) return reading
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        afterPollPhase(() => {
          reject(new StoreUnavailable({ cause: new Error('the image did not come in time') }))
          reader.cancel()
        }),
      Math.max(1, deadline - performance.now()),
    )
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}

/** Requests the rest of an interrupted body, provided that the object has not changed. */
async function openRest(client: S3Client, key: string, etag: string, span: ContentRange): Promise<Reply> {
  const headers = { range: headerOf(span), 'if-match': etag }
  const { value: reply, failure } = await client.open({ method: 'GET', key, headers, operation })
  if (failure !== null) throw errorOf({ ...failure, operation: 'GET the rest of an image' })
  if (contentRangeOf(reply)?.startsWith(`${span.first}-${span.last}/`)) return reply
  reply.body.cancel()
  throw new Error('the object store returned a different range from the one requested')
}

/** Throws unless the response's headers announce exactly these bytes of the record's object. */
function assertSpan(reply: Reply, record: ImageRecord, { first, last }: ContentRange): void {
  const stored = storedSize(record)
  const isWhole = last - first + 1 === stored
  if (reply.status === 206) {
    const expected = `${first}-${last}/${stored}`
    const received = contentRangeOf(reply)
    if (received !== expected) {
      throw new DamagedObject(record.id, { cause: new Error(`range ${received}, expected ${expected}`) })
    }
  } else if (!isWhole) {
    throw new Error('the object store ignores ranges')
  }
  const length = reply.header('content-length')
  if (length !== null && Number(length) !== last - first + 1) {
    throw new DamagedObject(record.id, {
      cause: new Error(`${length} bytes, expected ${last - first + 1}`),
    })
  }
}

function contentRangeOf(reply: Reply): string | null {
  return /^bytes (\d+-\d+\/\d+)$/.exec(reply.header('content-range') ?? '')?.[1] ?? null
}

function headerOf(range: ByteRange): string {
  return 'suffix' in range ? `bytes=-${range.suffix}` : `bytes=${range.first}-${range.last ?? ''}`
}

/** Maximum number of consecutive resumptions without a byte in between. */
const MAX_RESUMPTIONS = 3

/** A body of known length. */
interface BodyReader {
  /** `null` after the last. */
  next(): Promise<Uint8Array | null>
  cancel(): void
}

/**
 * Reads `size` bytes from `first`. After an interruption, `resume(offset)` opens the rest. Throws `StoreUnavailable` if that
 * does not help, and `DamagedObject` if more than `surplus` bytes follow.
 */
function resumingReader(object: {
  id: string
  first: Reply
  size: number
  surplus: number
  resume: (offset: number) => Promise<Reply>
}): BodyReader {
  const { id, size, resume } = object
  let { surplus } = object
  let { body } = object.first
  let offset = 0
  let failures = 0
  let isCancelled = false

  async function read(): Promise<Uint8Array> {
    for (;;) {
      const chunk = await body.next()
      if (chunk === null) throw new Error('the body was cut short')
      if (chunk.length > 0) return chunk
    }
  }

  /** Reads to the end so that the connection can be reused. Errors there don't matter, since all bytes have arrived. */
  async function readEnd(extraBytes: number): Promise<void> {
    for (let extra = extraBytes; extra <= surplus; ) {
      const more = await body.next().catch(() => null)
      if (more === null) return
      extra += more.length
    }
    throw new DamagedObject(id, { cause: new Error('more bytes than the record says') })
  }

  return {
    async next() {
      while (offset < size) {
        try {
          const chunk = await read()
          const wanted = chunk.subarray(0, size - offset)
          offset += wanted.length
          failures = 0
          if (offset === size) await readEnd(chunk.length - wanted.length)
          return wanted
        } catch (cause) {
          body.cancel()
          if (isCancelled || cause instanceof DamagedObject) throw cause
          if (++failures > MAX_RESUMPTIONS) throw new StoreUnavailable({ cause })
        }
        body = (await resume(offset)).body
        surplus = 0
      }
      body.cancel()
      return null
    },
    cancel() {
      isCancelled = true
      body.cancel()
    },
  }
}

/** `check` is called with every chunk before it is passed on. If it throws, the stream errors. */
function streamOf(
  reader: BodyReader,
  size: number,
  check: (chunk: Uint8Array, isLast: boolean) => void,
): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await reader.next()
          if (chunk !== null) {
            sent += chunk.length
            check(chunk, sent === size)
            controller.enqueue(chunk)
          }
          if (chunk === null || sent === size) controller.close()
        } catch (error) {
          reader.cancel()
          throw error
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  )
}

async function collect(reader: BodyReader, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
