/** Objects of a fake bucket: conditional puts, ranges and listings according to Amazon's documentation. */
import { createHash } from 'node:crypto'

export interface FakeObject {
  /** `null` if the object was too large to be kept. */
  bytes: Buffer | null
  size: number
  etag: string
  modifiedAt: Date
  /** Content-Type, Cache-Control and user metadata. */
  headers: Record<string, string>
}

export interface FakeAnswer {
  status: number
  headers?: Record<string, string>
  body?: Buffer | string
}

/** Amazon: 2 KB for all user metadata, names and values. */
const METADATA_MAX_BYTES = 2048
const KEY_MAX_BYTES = 1024
const PAGE_MAX_KEYS = 1000

export function errorAnswer(status: number, code: string, headers: Record<string, string> = {}): FakeAnswer {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>fake ${code} &amp; co</Message></Error>`,
  }
}

export function putObject(
  objects: Map<string, FakeObject>,
  key: string,
  request: Record<string, string>,
  body: { bytes: Buffer | null; size: number; md5: string },
  options: { ignoreCondition: boolean; hasBareEtags: boolean },
): FakeAnswer {
  if (Buffer.byteLength(key) > KEY_MAX_BYTES) return errorAnswer(400, 'KeyTooLongError')
  const headers = keptHeaders(request)
  const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'))
  const metadataBytes = metadata.reduce(
    (sum, [name, value]) => sum + name.length - 'x-amz-meta-'.length + value.length,
    0,
  )
  if (metadataBytes > METADATA_MAX_BYTES) return errorAnswer(400, 'MetadataTooLarge')
  const known = objects.get(key)
  const noneMatch = request['if-none-match']
  const match = request['if-match']
  if (noneMatch !== undefined && noneMatch !== '*') return errorAnswer(501, 'NotImplemented')
  const expected = options.hasBareEtags ? known?.etag.replaceAll('"', '') : known?.etag
  if (!options.ignoreCondition) {
    if (noneMatch === '*' && known !== undefined) return errorAnswer(412, 'PreconditionFailed')
    if (match !== undefined && known === undefined) return errorAnswer(404, 'NoSuchKey')
    if (match !== undefined && expected !== match) return errorAnswer(412, 'PreconditionFailed')
  }
  const etag = `"${body.md5}"`
  objects.set(key, { bytes: body.bytes, size: body.size, etag, modifiedAt: new Date(), headers })
  return { status: 200, headers: { etag } }
}

/** CopyObject: the same bytes and metadata under another key. */
export function copyObject(
  objects: Map<string, FakeObject>,
  bucket: string,
  key: string,
  source: string,
): FakeAnswer {
  const from = decodeURIComponent(source)
  if (!from.startsWith(`/${bucket}/`)) return errorAnswer(400, 'InvalidArgument')
  const object = objects.get(from.slice(bucket.length + 2))
  if (object === undefined) return errorAnswer(404, 'NoSuchKey')
  objects.set(key, { ...object, modifiedAt: new Date() })
  return { status: 200, body: `<CopyObjectResult><ETag>${escapeXml(object.etag)}</ETag></CopyObjectResult>` }
}

function keptHeaders(request: Record<string, string>): Record<string, string> {
  const kept = Object.entries(request).filter(
    ([name]) => ['content-type', 'cache-control'].includes(name) || name.startsWith('x-amz-meta-'),
  )
  return Object.fromEntries(kept)
}

export function getObject(
  objects: Map<string, FakeObject>,
  key: string,
  request: Record<string, string>,
  ignoreRange: boolean,
): FakeAnswer {
  const object = objects.get(key)
  if (object === undefined) return errorAnswer(404, 'NoSuchKey')
  if (request['if-match'] !== undefined && request['if-match'] !== object.etag) {
    return errorAnswer(412, 'PreconditionFailed')
  }
  const headers = {
    ...object.headers,
    etag: object.etag,
    'last-modified': object.modifiedAt.toUTCString(),
    'accept-ranges': 'bytes',
  }
  const requested = /^bytes=(\d*)-(\d*)$/.exec(request.range ?? '')
  const range =
    requested === null || ignoreRange ? 'whole' : spanOf(requested[1]!, requested[2]!, object.size)
  if (range === 'none') {
    return errorAnswer(416, 'InvalidRange', { 'content-range': `bytes */${object.size}` })
  }
  const [first, last] = range === 'whole' ? [0, object.size - 1] : range
  if (object.bytes === null) {
    if (range === 'whole')
      return { status: 200, headers, body: 'a large object, whose bytes the fake did not keep' }
    if (last > first) return errorAnswer(500, 'TheFakeKeepsNoLargeObjects')
    return withRange({ status: 206, headers, body: Buffer.alloc(1) }, first, last, object.size)
  }
  if (range === 'whole') return { status: 200, headers, body: object.bytes }
  const body = object.bytes.subarray(first, last + 1)
  return withRange({ status: 206, headers, body }, first, last, object.size)
}

function withRange(answer: FakeAnswer, first: number, last: number, size: number): FakeAnswer {
  return { ...answer, headers: { ...answer.headers, 'content-range': `bytes ${first}-${last}/${size}` } }
}

function spanOf(from: string, to: string, size: number): 'whole' | 'none' | [number, number] {
  if (from === '') {
    if (to === '') return 'whole'
    // RFC 9110: not satisfiable. Ceph RGW 16 sends the whole object. An adapter must not rely on either.
    if (Number(to) === 0) return 'whole'
    return size === 0 ? 'none' : [Math.max(0, size - Number(to)), size - 1]
  }
  if (to !== '' && Number(to) < Number(from)) return 'whole'
  if (Number(from) >= size) return 'none'
  return [Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1)]
}

export function listObjects(objects: Map<string, FakeObject>, query: URLSearchParams): FakeAnswer {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const maxKeys = Math.min(PAGE_MAX_KEYS, Number(query.get('max-keys') ?? PAGE_MAX_KEYS))
  const token = query.get('continuation-token')
  const start = token === null ? (query.get('start-after') ?? '') : openToken(token)
  if (start === null) return errorAnswer(400, 'InvalidArgument')
  const keys = [...objects.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

  const entries: string[] = []
  let lastEntry = ''
  let isTruncated = false
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    const entry = cut < 0 ? key : key.slice(0, cut + delimiter.length)
    if (entry === lastEntry || Buffer.compare(Buffer.from(entry), Buffer.from(start)) <= 0) continue
    if (entries.length === maxKeys) {
      isTruncated = maxKeys > 0
      break
    }
    const object = objects.get(key)!
    entries.push(
      cut < 0
        ? `<Contents><Key>${escapeXml(key)}</Key><LastModified>${object.modifiedAt.toISOString()}</LastModified><ETag>${escapeXml(object.etag)}</ETag><Size>${object.size}</Size></Contents>`
        : `<CommonPrefixes><Prefix>${escapeXml(entry)}</Prefix></CommonPrefixes>`,
    )
    lastEntry = entry
  }
  const next = isTruncated
    ? `<NextContinuationToken>${escapeXml(sealToken(lastEntry))}</NextContinuationToken>`
    : ''
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${entries.length}</KeyCount><MaxKeys>${maxKeys}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join('')}</ListBucketResult>`,
  }
}

/** Contains characters that a careless client fails to encode or to unescape. */
function sealToken(entry: string): string {
  return `+/=&${Buffer.from(entry).toString('base64')}#${createHash('md5').update(entry).digest('hex')}`
}

function openToken(token: string): string | null {
  const entry = Buffer.from(/^\+\/=&(.*)#/.exec(token)?.[1] ?? '', 'base64').toString()
  return sealToken(entry) === token ? entry : null
}

function escapeXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
