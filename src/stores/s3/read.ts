/** Opens images and ranges of them, and lets none pass whose bytes are not those of its record. */
import { createHash, hash } from 'node:crypto'
import { PIECE_BYTES } from '../../formats/image.ts'
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
import { type BodyReader, collect, resumingReader, streamOf } from './body.ts'
import type { S3Client } from './client.ts'
import { headObject, TOMBSTONE_HEADER } from './head.ts'
import { decodeRecord, RECORD_HEADER } from './record.ts'
import type { Reply } from './transport.ts'

export interface Place {
  client: S3Client
  id: string
  key: string
  /** When an answer must be there, by the clock of `performance`. Streams go on after that. Without it, no hurry. */
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
  // One look at the record decides, and moves no byte of the image.
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
    // Stores disagree on ranges such as the last 0 bytes: ours is the word that counts.
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
