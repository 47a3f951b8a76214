/** Opens images and ranges of them. Bytes that are not those of the record are an error, not an image. */
import { createHash, hash } from 'node:crypto'
import { PIECE_BYTES } from '../../formats/image.ts'
import { decodeRecord } from '../bucket/record.ts'
import { type Place, recordOf } from '../bucket/store.ts'
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
import { errorOf, isAbsent } from './answer.ts'
import type { S3Client } from './client.ts'
import { headObject, MARKER_HEADER, RECORD_HEADER } from './objects.ts'
import { afterPollPhase, type Reply } from './transport.ts'

interface At extends Place {
  client: S3Client
}

const doing = 'GET an image'

async function recordAt({ client, id, key, answerBy }: At): Promise<ImageRecord | null> {
  return recordOf(await headObject(client, key, undefined, answerBy), id)
}

/** As `ObjectStore.open`. */
export async function openObject(place: At, selection: Selection = 'all'): Promise<StoredImage | null> {
  if (typeof selection === 'object') return openRange(place, selection)
  if (selection === 'all') return openRange(place)
  if (selection === 'stored') return openStored(place)
  // The record decides, and is read without the image's bytes.
  const record = await recordAt(place)
  if (record === null) return null
  const wanted = typeof selection === 'function' ? selection(record) : selection
  const preview = wanted === 'preview' ? previewRange(record) : null
  if (preview !== null) return openPreview(place, preview)
  if (wanted === 'preview' || wanted === 'nothing') return { record, body: new Uint8Array() }
  return openObject(place, wanted)
}

/** A range of the image's bytes, or all of them. */
async function openRange(place: At, range?: ByteRange): Promise<StoredImage | null> {
  const opened = await openReply(place, range)
  if (opened === null) return null
  const { reply, record } = opened
  return letGoOnError(reply, async () => {
    // Resolved here, since stores disagree on ranges such as the last 0 bytes.
    const part = range === undefined ? undefined : resolveRange(range, record.size)
    if (part !== undefined && 'suffix' in range! && record.preview !== undefined) {
      // These are the last bytes of its preview.
      reply.body.cancel()
      return openRange(place, part)
    }
    const last = range === undefined || 'suffix' in range ? undefined : range.last
    const wanted = part ?? { first: 0, last: record.size - 1 }
    const answered = { first: wanted.first, last: Math.min(last ?? Infinity, storedSize(record) - 1) }
    assertSpan(reply, record, answered)
    const reader = readerOf(place, reply, wanted, answered.last - wanted.last)
    return { record, range: part, body: await bodyOf(place, reader, record, wanted) }
  })
}

/** `range`: of a record that was read before. */
async function openPreview(place: At, range: ContentRange): Promise<StoredImage | null> {
  const opened = await openReply(place, range)
  if (opened === null) return null
  const { reply, record } = opened
  return letGoOnError(reply, async () => {
    assertSpan(reply, record, range)
    const reader = readerOf(place, reply, range)
    const bytes = await inTime(collect(reader, range.last - range.first + 1), reader, place.answerBy)
    if (hash('sha256', bytes) !== record.preview?.sha256) throw new DamagedObject(place.id)
    return { record, body: bytes }
  })
}

/** All bytes of the object. Whoever copies them compares their digests. */
async function openStored(place: At): Promise<StoredImage | null> {
  const opened = await openReply(place)
  if (opened === null) return null
  const { reply, record } = opened
  return letGoOnError(reply, async () => {
    const answered = { first: 0, last: storedSize(record) - 1 }
    assertSpan(reply, record, answered)
    const reader = readerOf(place, reply, answered)
    return { record, body: streamOf(reader, storedSize(record), () => {}) }
  })
}

/** `null` for a marker too. */
async function openReply(
  place: At,
  range?: ByteRange,
): Promise<{ reply: Reply; record: ImageRecord } | null> {
  const { client, id, key, answerBy } = place
  const headers = range === undefined ? undefined : { range: headerOf(range) }
  const { value: reply, failure } = await client.open({
    method: 'GET',
    key,
    headers,
    answerBy,
    doing,
  })
  if (reply === null) {
    if (isAbsent(failure!)) return null
    if (failure!.status === 416 && range !== undefined) return unsatisfiable(place, range)
    throw errorOf(failure!, doing)
  }
  return letGoOnError(reply, async () => {
    if (reply.header(MARKER_HEADER) === null)
      return { reply, record: decodeRecord(id, reply.header(RECORD_HEADER)) }
    reply.body.cancel()
    return null
  })
}

async function letGoOnError<T>(reply: Reply, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    reply.body.cancel()
    throw error
  }
}

/** Throws, or answers `null` if the image is not there. */
async function unsatisfiable(place: At, range: ByteRange): Promise<null> {
  const record = await recordAt(place)
  if (record === null) return null
  resolveRange(range, record.size)
  throw new DamagedObject(place.id, { cause: new Error('the store has fewer bytes than the record says') })
}

async function bodyOf(
  { id, answerBy }: At,
  reader: BodyReader,
  record: ImageRecord,
  { first, last }: ContentRange,
): Promise<StoredImage['body']> {
  const size = last - first + 1
  const isWhole = size === record.size
  if (isWhole && size <= PIECE_BYTES) {
    const bytes = await inTime(collect(reader, size), reader, answerBy)
    if (hash('sha256', bytes) !== record.sha256) throw new DamagedObject(id)
    return bytes
  }
  const running = isWhole ? createHash('sha256') : undefined
  return streamOf(reader, size, (chunk, isLast) => {
    running?.update(chunk)
    if (isLast && running !== undefined && running.digest('hex') !== record.sha256)
      throw new DamagedObject(id)
  })
}

/** `surplus`: how many bytes the answer has behind those wanted. Behind an image there is its preview. */
function readerOf(
  { client, id, key }: At,
  reply: Reply,
  { first, last }: ContentRange,
  surplus = 0,
): BodyReader {
  const etag = reply.header('etag') ?? ''
  const resume = (offset: number) => rest(client, key, etag, { first: first + offset, last })
  return resumingReader({ id, first: reply, size: last - first + 1, surplus, resume })
}

/** Throws `StoreUnavailable` if what `reader` reads is not there by then. */
async function inTime<T>(reading: Promise<T>, reader: BodyReader, answerBy: number | undefined): Promise<T> {
  if (answerBy === undefined) return reading
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        afterPollPhase(() => {
          reject(new StoreUnavailable({ cause: new Error('the image did not come in time') }))
          reader.cancel()
        }),
      Math.max(1, answerBy - performance.now()),
    )
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}

/** The rest of a body that broke off, of the very same object. */
async function rest(client: S3Client, key: string, etag: string, span: ContentRange): Promise<Reply> {
  const headers = { range: headerOf(span), 'if-match': etag }
  const { value: reply, failure } = await client.open({ method: 'GET', key, headers, doing })
  if (failure !== null) throw errorOf(failure, 'GET the rest of an image')
  if (contentRangeOf(reply!)?.startsWith(`${span.first}-${span.last}/`)) return reply!
  reply!.body.cancel()
  throw new Error('the object store returned a different range from the one requested')
}

/** Throws unless the answer says that it carries these bytes of what is stored under this record. */
function assertSpan(reply: Reply, record: ImageRecord, { first, last }: ContentRange): void {
  const stored = storedSize(record)
  const isWhole = last - first + 1 === stored
  if (reply.status === 206) {
    const expected = `${first}-${last}/${stored}`
    const answered = contentRangeOf(reply)
    if (answered !== expected) {
      throw new DamagedObject(record.id, { cause: new Error(`range ${answered}, expected ${expected}`) })
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

/** Most times in a row that a body is taken up again without a byte in between. */
const MAX_RESUMPTIONS = 3

/** Bytes of known length. */
interface BodyReader {
  /** `null` after the last. */
  next(): Promise<Uint8Array | null>
  cancel(): void
}

/**
 * Reads `size` bytes from `first`. When it breaks off, `resume(offset)` gives the rest. Throws `StoreUnavailable` if
 * that does not help, `DamagedObject` if there are more than `surplus` bytes behind them.
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
      const piece = await body.next()
      if (piece === null) throw new Error('the body was cut short')
      if (piece.length > 0) return piece
    }
  }

  /** Reading the end as well gives the connection back instead of closing it. A fault there costs no byte. */
  async function readEnd(already: number): Promise<void> {
    for (let extra = already; extra <= surplus; ) {
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
          const piece = await read()
          const wanted = piece.subarray(0, size - offset)
          offset += wanted.length
          failures = 0
          if (offset === size) await readEnd(piece.length - wanted.length)
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

/** `check` sees every chunk before it is handed out; what it throws for the last ends the stream in an error. */
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
