/** Opens images and ranges of them. Bytes that are not those of the record are an error, not an image. */
import { createHash, hash } from 'node:crypto'
import { PIECE_BYTES } from '../../formats/image.ts'
import { decodeRecord } from '../bucket/record.ts'
import {
  type ByteRange,
  type ContentRange,
  DamagedObject,
  type ImageRecord,
  resolveRange,
  type Selection,
  type StoredImage,
  StoreUnavailable,
} from '../object-store.ts'
import { errorOf, isAbsent } from './answer.ts'
import type { S3Client } from './client.ts'
import { headObject, RECORD_HEADER, TOMBSTONE_HEADER } from './objects.ts'
import type { Reply } from './transport.ts'

export interface Place {
  client: S3Client
  id: string
  key: string
  /** When an answer must be there, by the clock of `performance`; streams go on after that. By default no limit. */
  answerBy?: number
}

/** For a view that begins now. */
export function viewOf(place: Place): Place {
  return { ...place, answerBy: performance.now() + place.client.retryPolicy.viewMs }
}

const doing = 'GET an image'

/** `null` for a tombstone: its image is gone. */
export async function recordAt({ client, id, key, answerBy }: Place): Promise<ImageRecord | null> {
  const found = await headObject(client, key, undefined, answerBy)
  return found === null || found.tombstone !== null ? null : found.record(id)
}

export async function openObject(place: Place, selection: Selection = 'all'): Promise<StoredImage | null> {
  if (typeof selection === 'object') return openRange(place, selection)
  if (selection === 'all') return openRange(place)
  // The record decides, and is read without the image's bytes.
  const record = await recordAt(place)
  if (record === null) return null
  const wanted = selection === 'nothing' ? selection : selection(record)
  return wanted === 'nothing' ? { record, body: new Uint8Array() } : openObject(place, wanted)
}

async function openRange(place: Place, range?: ByteRange): Promise<StoredImage | null> {
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
  try {
    if (reply.header(TOMBSTONE_HEADER) !== null) {
      reply.body.cancel()
      return null
    }
    const record = decodeRecord(id, reply.header(RECORD_HEADER))
    // Resolved here, since stores disagree on ranges such as the last 0 bytes.
    const part = range === undefined ? undefined : resolveRange(range, record.size)
    assertSpan(reply, record, part)
    return { record, range: part, body: await bodyOf(place, reply, record, part) }
  } catch (error) {
    reply.body.cancel()
    throw error
  }
}

/** A read of all of it checks its digest. */
export async function verifyObject(place: Place): Promise<ImageRecord | null> {
  const image = await openObject(place)
  if (image?.body instanceof ReadableStream) for await (const _ of image.body);
  return image?.record ?? null
}

/** Throws, or answers `null` if the image is not there. */
async function unsatisfiable(place: Place, range: ByteRange): Promise<null> {
  const record = await recordAt(place)
  if (record === null) return null
  resolveRange(range, record.size)
  throw new DamagedObject(place.id, { cause: new Error('the store has fewer bytes than the record says') })
}

async function bodyOf(
  { client, id, key, answerBy }: Place,
  reply: Reply,
  record: ImageRecord,
  part: ContentRange | undefined,
): Promise<StoredImage['body']> {
  const { first, last } = part ?? { first: 0, last: record.size - 1 }
  const size = last - first + 1
  const isWhole = size === record.size
  const etag = reply.header('etag') ?? ''
  const reader = resumingReader({
    id,
    first: reply,
    size,
    resume: (offset) => rest(client, key, etag, { first: first + offset, last }),
  })
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

/** Throws `StoreUnavailable` if what `reader` reads is not there by then. */
async function inTime<T>(reading: Promise<T>, reader: BodyReader, answerBy: number | undefined): Promise<T> {
  if (answerBy === undefined) return reading
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        reject(new StoreUnavailable({ cause: new Error('the image did not come in time') }))
        reader.cancel()
      },
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

/** Throws unless the answer says that it carries these bytes of an image of this size. */
function assertSpan(reply: Reply, record: ImageRecord, part: ContentRange | undefined): void {
  const { first, last } = part ?? { first: 0, last: record.size - 1 }
  const isWhole = last - first + 1 === record.size
  if (reply.status === 206) {
    const expected = `${first}-${last}/${record.size}`
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
 * that does not help, `DamagedObject` if there are more bytes than `size`.
 */
function resumingReader(object: {
  id: string
  first: Reply
  size: number
  resume: (offset: number) => Promise<Reply>
}): BodyReader {
  const { id, size, resume } = object
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

  return {
    async next() {
      while (offset < size) {
        try {
          const piece = await read()
          offset += piece.length
          failures = 0
          if (offset < size) return piece
          // Reading the end as well gives the connection back instead of closing it. A fault there costs no byte.
          const more = await body.next().catch(() => null)
          if (offset > size || more !== null)
            throw new DamagedObject(id, { cause: new Error('more bytes than the record says') })
          return piece
        } catch (cause) {
          body.cancel()
          if (isCancelled || cause instanceof DamagedObject) throw cause
          if (++failures > MAX_RESUMPTIONS) throw new StoreUnavailable({ cause })
        }
        body = (await resume(offset)).body
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
