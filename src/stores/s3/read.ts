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
  if (typeof selection === 'object' || selection === 'all' || selection === 'stored')
    return openPart(place, selection)
  // The record decides, and is read without the image's bytes.
  const record = await recordAt(place)
  if (record === null) return null
  const wanted = typeof selection === 'function' ? selection(record) : selection
  const preview = wanted === 'preview' ? previewRange(record) : null
  if (preview !== null) return openPart(place, 'preview', preview)
  if (wanted === 'preview' || wanted === 'nothing') return { record, body: new Uint8Array() }
  return openPart(place, wanted)
}

/** `asked`: the bytes that the store is asked for, by default all. Those of a preview are of a record that was read before. */
async function openPart(
  place: At,
  part: ByteRange | 'all' | 'preview' | 'stored',
  asked: ByteRange | undefined = typeof part === 'object' ? part : undefined,
): Promise<StoredImage | null> {
  const opened = await openReply(place, asked)
  if (opened === null) return null
  const { reply, record } = opened
  const stored = storedSize(record)
  return letGoOnError(reply, async () => {
    const size = part === 'all' || typeof part === 'object' ? record.size : stored
    // Resolved here, since stores disagree on ranges such as the last 0 bytes.
    const span = asked === undefined ? { first: 0, last: size - 1 } : resolveRange(asked, size)
    if (asked !== undefined && 'suffix' in asked && record.preview !== undefined) {
      // These are the last bytes of its preview.
      reply.body.cancel()
      return openPart(place, span)
    }
    const answeredLast = asked !== undefined && 'first' in asked ? asked.last : undefined
    const answered = { first: span.first, last: Math.min(answeredLast ?? stored, stored - 1) }
    assertSpan(reply, record, answered)
    const reader = readerOf(place, reply, span, answered.last - span.last)
    const body = await bodyOf(place, reader, span, digestOf(record, part, span))
    return typeof part === 'object' ? { record, range: span, body } : { record, body }
  })
}

/** What the bytes of a part are checked by. `null`: nothing; whoever copies all that is stored compares its digests. */
function digestOf(
  { size, sha256, preview }: ImageRecord,
  part: ByteRange | 'all' | 'preview' | 'stored',
  { first, last }: ContentRange,
): string | null {
  if (part === 'preview') return preview?.sha256 ?? ''
  return part !== 'stored' && last - first + 1 === size ? sha256 : null
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
  { first, last }: ContentRange,
  sha256: string | null,
): Promise<StoredImage['body']> {
  const size = last - first + 1
  if (sha256 !== null && size <= PIECE_BYTES) {
    const bytes = await inTime(collect(reader, size), reader, answerBy)
    if (hash('sha256', bytes) !== sha256) throw new DamagedObject(id)
    return bytes
  }
  const running = sha256 === null ? null : createHash('sha256')
  return streamOf(reader, size, (chunk, isLast) => {
    running?.update(chunk)
    if (isLast && running !== null && running.digest('hex') !== sha256) throw new DamagedObject(id)
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
