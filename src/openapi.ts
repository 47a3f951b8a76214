/**
 * The API as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.2.html), with the operator's settings filled in.
 * The HTTP contract tests validate every response of every host against it, and check that every documented response occurs.
 */
import { ACCEPTED_LIFETIMES, LIFETIMES } from './lifetimes.ts'
import { PROBLEMS, type ProblemCode, problemType, titleOf } from './problems.ts'
import {
  CDN_MAX_AGE_SECONDS,
  EXPIRES_PARAMETER,
  ID_PATTERN,
  IDEMPOTENCY_PATTERN,
  IMAGE_TYPES,
  KEY_PATTERN,
  PASS_PATTERN,
  PASS_UPLOADS,
  PREVIEW_TYPES,
  RAW_MAX_AGE_SECONDS,
  REPEAT_SECONDS,
  SOLUTION_HEADER,
  TIME_PATTERN,
  UNCHALLENGED_UPLOADS,
} from './protocol.ts'
import { CATEGORIES, REPORT_TEXT } from './service/moderation/report-categories.ts'

export type Schema = Record<string, unknown>

export interface Header {
  description: string
  required?: boolean
  schema: Schema
  example?: unknown
}

export interface MediaType {
  schema?: Schema
  examples?: Record<string, { value: unknown }>
  encoding?: Record<string, { contentType: string }>
}

type Content = Record<string, MediaType>

export interface ApiResponse {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Content
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  required?: boolean
  schema: Schema
  example?: unknown
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { description: string; required: boolean; content: Content }
  responses: Record<string, ApiResponse>
  /** Code samples: an extension that many OpenAPI viewers support. */
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
}

type Paths = Record<string, Partial<Record<'get' | 'head' | 'post' | 'delete' | 'options', Operation>>>

export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; summary: string; description: string; license: Schema }
  servers: { url: string }[]
  externalDocs: { url: string; description: string }
  tags: { name: string; description: string }[]
  paths: Paths
  components: {
    schemas: Record<string, Schema>
    headers: Record<string, Header>
    /** Responses that any endpoint may return, as `anywhere-STATUS`. Operations do not repeat them. */
    responses: Record<string, ApiResponse>
  }
}

export interface ApiSettings {
  /** No trailing slash. */
  baseUrl: string
  maxUploadBytes: number
  uploadsPerDay: number
}

const ID = '4cJx0RmQ2aZ'
const KEY = `${ID}${'Zk3vY8qLw1'.repeat(4).slice(0, 32)}`

const string = { type: 'string' }
const text = (pattern: string | RegExp): Schema => ({
  type: 'string',
  pattern: typeof pattern === 'string' ? pattern : pattern.source,
})
const integer = (minimum: number): Schema => ({ type: 'integer', minimum })

/** An object schema without additional properties. `optional`: properties that may be absent. */
function object(properties: Record<string, Schema>, optional: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function requiredHeader(description: string, schema: Schema, example?: unknown): Header {
  return { description, required: true, schema, ...(example !== undefined && { example }) }
}

function optionalHeader(description: string, schema: Schema = string, example?: unknown): Header {
  return { description, schema, ...(example !== undefined && { example }) }
}

/** Names are unique keys: a suffix after a dot distinguishes variants of the same header. */
const HEADERS: Record<string, Header> = {
  'X-Content-Type-Options': requiredHeader('Disables content type sniffing.', { const: 'nosniff' }),
  'Referrer-Policy': requiredHeader('Outgoing links send no referrer.', { const: 'no-referrer' }),
  'Strict-Transport-Security': optionalHeader('Present if the base URL is https.', text('^max-age=\\d+$')),
  'X-Request-Id': requiredHeader(
    'Identifies the request in the server log.',
    text('^[\\w-]{8,}$'),
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  ),
  'Cache-Control.none': requiredHeader(
    'The response must not be cached, and a page with a key not be compressed.',
    {
      enum: ['no-store', 'no-store, no-transform'],
    },
  ),
  'Cache-Control.page': requiredHeader('Only browsers may cache the page, and must revalidate it.', {
    const: 'private, no-cache',
  }),
  'Cache-Control.image': requiredHeader(
    'The content at this URL never changes. For an image that expires, max-age never exceeds the remaining time.',
    text('^public, max-age=\\d+(, s-maxage=\\d+, must-revalidate)?, immutable$'),
    `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`,
  ),
  'Cache-Control.document': requiredHeader('Caches must revalidate the document before each use.', {
    const: 'no-cache',
  }),
  Vary: optionalHeader('The request headers that the response depends on.', string, 'Accept'),
  Link: optionalHeader(
    'Links to related resources (RFC 8288).',
    string,
    '</openapi.json>; rel="service-desc"',
  ),
  Allow: optionalHeader('The methods that this URL supports.', text('^[A-Z]+(, [A-Z]+)*$'), 'GET, HEAD'),
  Location: requiredHeader('An absolute URL.', text('^https?://')),
  'Location.receipt': requiredHeader('A path on this host.', text('^/receipt/')),
  'Location.preview': requiredHeader(
    'A path on this host, or an absolute URL if an external resizer generates the previews.',
    text('^(https?:/)?/'),
  ),
  'X-RateLimit-Limit': requiredHeader(
    'The number of images that an address may upload per UTC day.',
    integer(1),
    100,
  ),
  'X-RateLimit-Remaining': requiredHeader('The number of uploads left today.', integer(0), 73),
  'RateLimit-Policy': requiredHeader(
    'The quota as a structured field (draft-ietf-httpapi-ratelimit-headers).',
    text('^"uploads";q=\\d+;w=\\d+$'),
    '"uploads";q=100;w=86400',
  ),
  RateLimit: requiredHeader(
    'The uploads left (r) and the number of seconds until the quota resets (t).',
    text('^"uploads";r=\\d+;t=\\d+$'),
    '"uploads";r=73;t=18233',
  ),
  'RateLimit-Policy.sometimes': optionalHeader('In responses of the upload endpoint.'),
  'RateLimit.sometimes': optionalHeader('In responses of the upload endpoint.'),
  'X-RateLimit-Limit.sometimes': optionalHeader('In responses of the upload endpoint.', integer(1), 100),
  'X-RateLimit-Remaining.sometimes': optionalHeader('In responses of the upload endpoint.', integer(0), 73),
  'Retry-After': requiredHeader('The number of seconds to wait before retrying.', integer(1), 18233),
  ETag: requiredHeader('The SHA-256 of the content, in hex and quoted.', text('^"[0-9a-f]{64}"$')),
  'ETag.document': requiredHeader(
    'The SHA-256 of the uncompressed content, in hex, with a suffix for the compression.',
    text('^"[0-9a-f]{64}(-br|-gzip)?"$'),
  ),
  'Repr-Digest': requiredHeader(
    'The SHA-256 of the content (RFC 9530).',
    text('^sha-256=:[A-Za-z0-9+/]{43}=:$'),
  ),
  'Accept-Ranges': requiredHeader('Range requests are supported.', { const: 'bytes' }),
  'Content-Range': requiredHeader(
    'The returned byte range and the total size in bytes.',
    text('^bytes (\\d+-\\d+|\\*)/\\d+$'),
  ),
  'Content-Disposition': requiredHeader(
    'The suggested file name.',
    text('^(inline|attachment); filename="[^"]+"$'),
  ),
  'Content-Security-Policy': optionalHeader('What the response may load when it is opened as a page.'),
  'Cross-Origin-Resource-Policy': requiredHeader('Any site may embed the resource.', {
    const: 'cross-origin',
  }),
  'X-Robots-Tag': requiredHeader('Search engines must not index the image.', { const: 'noindex' }),
  'CDN-Cache-Control.image': requiredHeader(
    'Cache lifetime in caches that the operator can purge (RFC 9213).',
    text('^public, max-age=\\d+, must-revalidate$'),
    `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`,
  ),
  'CDN-Cache-Control.page': optionalHeader('Shared caches must not store pages.', { const: 'no-store' }),
  'Cache-Tag': requiredHeader('The tag for purging the image from caches.', string),
  'Cloudflare-CDN-Cache-Control': optionalHeader('For Cloudflare.'),
  'Surrogate-Control': optionalHeader('For Fastly.'),
  'Surrogate-Key': optionalHeader('For Fastly.'),
  'X-Accel-Expires': optionalHeader('For nginx.'),
  'Access-Control-Allow-Origin.any': requiredHeader('Scripts on any site may read the response.', {
    const: '*',
  }),
  'Access-Control-Allow-Origin': optionalHeader('For origins that the operator allows.'),
  'Access-Control-Allow-Methods': optionalHeader('For origins that the operator allows.'),
  'Access-Control-Allow-Headers': optionalHeader('For origins that the operator allows.'),
  'Access-Control-Expose-Headers': optionalHeader('For origins that the operator allows.'),
  'Access-Control-Max-Age': optionalHeader('For origins that the operator allows.', integer(1)),
  'Cross-Origin-Opener-Policy': optionalHeader('On pages.', { const: 'same-origin' }),
  'Permissions-Policy': optionalHeader('On pages.'),
  'X-Frame-Options': optionalHeader('On pages.', { const: 'DENY' }),
  'Content-Encoding': optionalHeader('On pages and documents, if the client accepts the encoding.', {
    enum: ['gzip', 'br'],
  }),
}

// Groups of keys of `HEADERS`, and of codes of `PROBLEMS`, separated by spaces.
const COMMON = 'X-Content-Type-Options Referrer-Policy Strict-Transport-Security'
const UNCACHED = `${COMMON} Cache-Control.none X-Request-Id`
const ON_PAGES =
  'CDN-Cache-Control.page Content-Security-Policy Cross-Origin-Opener-Policy Permissions-Policy X-Frame-Options ' +
  'Content-Encoding Vary'
const PAGE = `${COMMON} Cache-Control.page X-Request-Id ${ON_PAGES}`
/** Uncached pages, and errors, which may be problem details or a page. */
const UNCACHED_PAGE = `${UNCACHED} ${ON_PAGES}`
const CORS =
  'Vary Access-Control-Allow-Origin Access-Control-Allow-Methods Access-Control-Allow-Headers ' +
  'Access-Control-Expose-Headers Access-Control-Max-Age'
const ANY_SITE = 'Access-Control-Allow-Origin.any'
const RATE = 'X-RateLimit-Limit X-RateLimit-Remaining RateLimit-Policy RateLimit'
const MAYBE_RATE = RATE.replace(/\S+/g, '$&.sometimes')
const IMAGE =
  `${COMMON} Cache-Control.image ETag Repr-Digest Accept-Ranges Content-Security-Policy ` +
  `Cross-Origin-Resource-Policy ${ANY_SITE} X-Robots-Tag Content-Disposition CDN-Cache-Control.image Cache-Tag ` +
  'Cloudflare-CDN-Cache-Control Surrogate-Control Surrogate-Key X-Accel-Expires'
const PREVIEW_REDIRECT =
  `${COMMON} Cache-Control.image X-Request-Id Location.preview Cross-Origin-Resource-Policy ${ANY_SITE} X-Robots-Tag ` +
  'CDN-Cache-Control.image Cache-Tag Cloudflare-CDN-Cache-Control Surrogate-Control Surrogate-Key X-Accel-Expires'
const DOCUMENT = `${COMMON} Cache-Control.document Content-Encoding ETag.document Vary ${ANY_SITE} Link`

const UPLOAD_REFUSALS =
  'malformed-multipart missing-file unexpected-field not-multipart file-too-large unsupported-type damaged-image ' +
  'blocked-image capacity-reached network-quota-exceeded cross-site challenge-required quota-exceeded ' +
  'too-many-refusals busy bad-idempotency-key bad-expires idempotency-key-reused uploads-paused storage-full ' +
  'unavailable too-slow removed held'
const REPORT_REFUSALS = 'cross-site body-too-large unavailable bad-report too-many-reports not-found'
const REFUSALS_ANYWHERE =
  'too-slow not-found method-not-allowed bad-request expectation-failed headers-too-large internal-error'

const HTML: Content = { 'text/html': { schema: string } }
const BYTES: Content = Object.fromEntries(IMAGE_TYPES.map((type) => [type, {}]))
const json = (schema: Schema, examples?: MediaType['examples']): Content => ({
  'application/json': { schema, ...(examples && { examples }) },
})

function response(description: string, headers: string, content?: Content): ApiResponse {
  const refs = headers
    .split(' ')
    .map((name) => [name.split('.')[0], { $ref: `#/components/headers/${name}` }] as const)
  return { description, headers: Object.fromEntries(refs), ...(content && { content }) }
}

/**
 * Error responses of an operation by status. `form`: always problem details, always a page, or `either` depending on
 * `Accept`. `codes`: separated by spaces, like header names. `more`: additional headers of every error; `moreOf`: additional
 * headers by status.
 */
function refusals(
  form: 'problem' | 'page' | 'either',
  codes: string,
  more = '',
  moreOf: Record<number, string> = {},
): Record<string, ApiResponse> {
  const byStatus = Map.groupBy(codes.split(' ') as ProblemCode[], (code) => PROBLEMS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      `${status}`,
      response(
        codes.map((code) => `\`${code}\`: ${PROBLEMS[code].when}`).join(' '),
        [UNCACHED_PAGE, more, moreOf[status] ?? ''].filter((names) => names !== '').join(' '),
        {
          ...(form !== 'page' && { 'application/problem+json': problem(status, codes) }),
          ...(form !== 'problem' && HTML),
        },
      ),
    ]),
  )
}

function problem(status: number, codes: ProblemCode[]): MediaType {
  const title = titleOf(status)
  return {
    schema: {
      allOf: [{ $ref: '#/components/schemas/Problem' }],
      properties: { status: { const: status }, error: { enum: codes } },
    },
    examples: Object.fromEntries(
      codes.map((code) => {
        const { when: detail, retryAfter } = PROBLEMS[code]
        return [code, { value: { type: problemType(code), title, status, detail, error: code, retryAfter } }]
      }),
    ),
  }
}

function inHeader(name: string, description: string, schema: Schema = string, example?: unknown): Parameter {
  return { name, in: 'header', description, schema, ...(example !== undefined && { example }) }
}

function inQuery(name: string, description: string, schema: Schema = string, example?: unknown): Parameter {
  return { ...inHeader(name, description, schema, example), in: 'query' }
}

function inPath(name: string, description: string, schema: Schema, example?: unknown): Parameter {
  return { ...inHeader(name, description, schema, example), in: 'path', required: true }
}

function operation(
  operationId: string,
  tag: string,
  summary: string,
  more: Omit<Operation, 'operationId' | 'tags' | 'summary'>,
): Operation {
  return { operationId, tags: [tag], summary, ...more }
}

function sample(lang: string, label: string, source: string) {
  return { lang, label, source }
}

const KEY_PARAMETER: Parameter = {
  ...inQuery('key', 'The deletion key from the upload response.', text(KEY_PATTERN), KEY),
  required: true,
}

const EXPIRES_QUERY: Parameter = inQuery(
  EXPIRES_PARAMETER,
  `How long to keep the image: ${ACCEPTED_LIFETIMES}. ` +
    'An expired image behaves as if it had been deleted. By default, an image is kept until it is ' +
    'deleted with its key, or for as long as the operator has configured. A lifetime above the maximum that the operator has ' +
    'configured is reduced to it. See expires in the response.',
  text(`^(${Object.keys(LIFETIMES).join('|')}|\\d{1,9})$`),
  '1d',
)

const SOLUTION_PARAMETER: Parameter = inHeader(
  SOLUTION_HEADER,
  'The solution of a challenge: its token, a colon, and the comma-separated answers. Each solution is accepted once.',
  text('^[\\w.-]{1,200}:\\d{1,10}(,\\d{1,10}){0,15}$'),
)

const RAW_PARAMETERS: Parameter[] = [
  inPath(
    'name',
    'The image ID, optionally followed by the file extension of its type.',
    text('^[0-9A-Za-z]{11}(\\.(jpg|png|gif|webp|avif))?$'),
    `${ID}.png`,
  ),
  inQuery(
    'dl',
    'Set to 1 to download the image instead of displaying it. Any other query is redirected to the URL without it.',
    { const: 1 },
  ),
  ...['If-Match', 'If-None-Match', 'Range', 'If-Range'].map((name) =>
    inHeader(name, 'As defined in RFC 9110.'),
  ),
]

const IMAGE_RESPONSES = {
  200: response('The image.', IMAGE, BYTES),
  304: response('Not modified: the client’s copy is current.', IMAGE, BYTES),
  308: response(
    'Redirect to the canonical URL, without the unknown query parameters.',
    `${UNCACHED} Location Cross-Origin-Resource-Policy ${ANY_SITE}`,
  ),
}

const IMAGE_REFUSALS = {
  ...refusals('either', 'unavailable not-found removed held', ANY_SITE),
  ...refusals('problem', 'precondition-failed', ANY_SITE),
}
const RANGE_REFUSALS = {
  ...IMAGE_REFUSALS,
  ...refusals('problem', 'range-not-satisfiable', ANY_SITE, { 416: 'Content-Range' }),
}

const ID_PARAMETERS: Parameter[] = [inPath('id', 'The image ID.', text(ID_PATTERN), ID)]

const PREVIEW_BYTES: Content = Object.fromEntries(PREVIEW_TYPES.map((type) => [type, {}]))

const PREVIEW_RESPONSES = {
  200: response('The preview.', IMAGE, PREVIEW_BYTES),
  304: response('Not modified: the client’s copy is current.', IMAGE, PREVIEW_BYTES),
  307: response(
    'Redirect to the image if it has no preview, or to the external resizer if the operator uses one.',
    PREVIEW_REDIRECT,
  ),
  308: IMAGE_RESPONSES[308],
}

const CATEGORY = { enum: Object.keys(CATEGORIES) }
const categoriesWhere = (holds: (rules: (typeof CATEGORIES)[keyof typeof CATEGORIES]) => boolean): string =>
  Object.entries(CATEGORIES)
    .flatMap(([name, rules]) => (holds(rules) ? [name] : []))
    .join(', ')

const CONTACT = {
  ...string,
  description: `Required for ${categoriesWhere(({ contact }) => contact === 'required')}.`,
}

const READINESS = object(
  {
    status: { enum: ['ok', 'unavailable'] },
    store: string,
    ledger: string,
    clock: string,
    purgesOwed: integer(0),
    oldestPurgeSeconds: { type: 'number', minimum: 0 },
  },
  ['store', 'ledger', 'clock', 'purgesOwed', 'oldestPurgeSeconds'],
)

/** A CORS preflight request (Fetch, 4.8). */
function preflight(operationId: string, methods: string, more: string): Operation {
  return operation(operationId, 'Images', `CORS preflight for ${methods}`, {
    responses: {
      204: response(
        'The headers contain the CORS policy for the requesting origin.',
        `${UNCACHED} Allow ${more}`,
      ),
    },
  })
}

function page(operationId: string, summary: string, headers = PAGE): Operation {
  return operation(operationId, 'Pages', summary, {
    responses: { 200: response('The page.', headers, HTML) },
  })
}

function redirectToTerms(operationId: string, summary: string): Operation {
  const responses = { 307: response('Redirect to that section of the terms.', `${UNCACHED} Location`) }
  return operation(operationId, 'Pages', summary, { responses })
}

const TOOL = 'The file, configured with the URL of this server.'

function tool(operationId: string, summary: string, type: string): Operation {
  return operation(operationId, 'Tools', summary, {
    responses: { 200: response(TOOL, UNCACHED, { [type]: {} }) },
  })
}

/** A cacheable document, revalidated by its ETag. */
function cachedDocument(operationId: string, summary: string, type: string, schema: Schema): Operation {
  const responses = {
    200: response('The document.', DOCUMENT, { [type]: { schema } }),
    304: response('Not modified: the client’s copy is current.', DOCUMENT),
  }
  return operation(operationId, 'Tools', summary, { responses })
}

/** The document for one server: includes its base URL, file size limit and quota. */
export function createDocument({ baseUrl, maxUploadBytes, uploadsPerDay }: ApiSettings): ApiDocument {
  const link = `${baseUrl}/${ID}`
  const raw = `${baseUrl}/raw/${ID}`
  const deletion = `${baseUrl}/api/delete?key=${KEY}`
  return {
    openapi: '3.1.2',
    info: {
      title: 'Pinhole',
      version: '1',
      summary: 'Anonymous image sharing: upload an image, get a link, delete it with a key.',
      description:
        'There are no accounts and no API keys. Errors are returned as problem details (RFC 9457) with a stable code in ' +
        '`error`; `type` links to its explanation. HEAD works wherever GET does. Before a part of the API is removed, its ' +
        'responses announce it in the headers Deprecation (RFC 9745) and Sunset (RFC 8594).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    externalDocs: {
      url: `${baseUrl}/api`,
      description: 'The API reference as a web page, with every error code.',
    },
    tags: [
      { name: 'Images', description: 'Upload, view, download and delete images.' },
      { name: 'Reports', description: 'Report an image to the operator and follow the decision.' },
      { name: 'Tools', description: 'Configuration files and API descriptions for tools.' },
      { name: 'Pages', description: 'Web pages and their forms.' },
      { name: 'Health', description: 'Health checks for load balancers and monitoring.' },
    ],
    paths: {
      '/api/upload': {
        post: operation('upload', 'Images', 'Upload an image', {
          description:
            'Send a multipart form with exactly one part, named `file`: a JPEG, PNG, GIF, WebP or AVIF image of at most ' +
            `${maxUploadBytes} bytes. The type is detected from the content; the file name and the declared type are ignored. ` +
            `Each address may upload ${uploadsPerDay} images per UTC day; refused uploads do not count. ` +
            'Metadata about where, by whom and with which device a picture was taken is removed, unless the operator ' +
            'has disabled this. Pixels are never changed, and GIF files are stored unchanged.',
          parameters: [
            inHeader(
              'Accept',
              'text/plain returns only the link, and text/html returns a page. The default is JSON.',
              string,
              'application/json',
            ),
            EXPIRES_QUERY,
            inHeader(
              'Content-Digest',
              'The sha-256 or sha-512 digest of the whole request body (RFC 9530). The upload is refused if it does not match.',
              string,
              'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
            ),
            inHeader(
              'Idempotency-Key',
              'Makes retries safe. Generate a key with at least 128 random bits for each image and send it again with each ' +
                'retry: the same image then gets the same response and counts once. Keep it secret, because it gives access ' +
                `to the deletion key. Stop retrying after ${REPEAT_SECONDS} seconds. Once the image is deleted, its idempotency key is refused.`,
              text(IDEMPOTENCY_PATTERN),
              'c1f0a8de-0f4d-4e0b-9d5b-3a4c7fae2b11',
            ),
            SOLUTION_PARAMETER,
            inHeader(
              'Authorization',
              `If challenges are enabled: Bearer followed by a pass, which is valid for ${PASS_UPLOADS} uploads within one day. ` +
                `The first ${UNCHALLENGED_UPLOADS} uploads of an address per day do not use up the pass.`,
            ),
          ],
          requestBody: {
            description: 'A form with the image.',
            required: true,
            content: {
              'multipart/form-data': {
                // The OpenAPI 3.0 format, by which client generators still recognize a file.
                schema: object({ file: { type: 'string', format: 'binary' } }),
                encoding: { file: { contentType: IMAGE_TYPES.join(', ') } },
              },
            },
          },
          responses: {
            201: response(
              'The image is stored durably: it survives a crash of the server.',
              `${UNCACHED} Location ${RATE} ${CORS} ${ON_PAGES}`,
              {
                ...json(
                  { $ref: '#/components/schemas/Upload' },
                  { stored: { value: { id: ID, link, key: KEY, delete: deletion } } },
                ),
                'text/plain': { schema: string, examples: { stored: { value: `${link}\n` } } },
                ...HTML,
              },
            ),
            ...refusals('either', UPLOAD_REFUSALS, `${RATE} ${CORS}`, { 429: 'Retry-After' }),
          },
          'x-codeSamples': [
            sample('Shell', 'curl', `curl -F file=@picture.png ${baseUrl}/api/upload`),
            sample(
              'JavaScript',
              'fetch',
              `const form = new FormData()
form.append('file', blob)
const response = await fetch('${baseUrl}/api/upload', { method: 'POST', body: form })
const result = await response.json()
if (!response.ok) throw new Error(result.detail)
const { link, key } = result`,
            ),
            sample(
              'JavaScript',
              'SDK',
              `import { upload } from 'pinhole/client'

const { link, key } = await upload(blob, { baseUrl: '${baseUrl}' })`,
            ),
            sample(
              'Python',
              'Python',
              `import requests

with open("picture.png", "rb") as image:
    response = requests.post("${baseUrl}/api/upload", files={"file": image})
result = response.json()
if not response.ok:
    raise RuntimeError(result["detail"])
print(result["link"], result["key"])`,
            ),
            sample(
              'Text',
              'ShareX',
              `Download ${baseUrl}/sharex.sxcu in a browser, then open the downloaded file.`,
            ),
          ],
        }),
        options: preflight('uploadOptions', 'POST', `${RATE} ${CORS}`),
      },
      '/api/delete': {
        delete: operation('deleteImage', 'Images', 'Delete an image', {
          description:
            'Permanently deletes an image. Once this returns `true`, the server never serves the image again, and its data is ' +
            'gone. Caches that the operator can purge are purged; copies in other caches and in chats are beyond its reach.',
          parameters: [KEY_PARAMETER],
          responses: {
            200: response(
              'The image is deleted.',
              `${UNCACHED} ${CORS}`,
              json({ $ref: '#/components/schemas/Deletion' }, { deleted: { value: { success: true } } }),
            ),
            ...refusals('either', 'unavailable missing-key unknown-key', CORS),
          },
          'x-codeSamples': [
            sample('Shell', 'curl', `curl -X DELETE '${deletion}'`),
            sample(
              'JavaScript',
              'fetch',
              `const response = await fetch('${deletion}', { method: 'DELETE' })
const { success } = await response.json()`,
            ),
            sample(
              'JavaScript',
              'SDK',
              `import { remove } from 'pinhole/client'

await remove('${KEY}', { baseUrl: '${baseUrl}' })`,
            ),
            sample(
              'Python',
              'Python',
              `import requests

response = requests.delete("${baseUrl}/api/delete", params={"key": "${KEY}"})
print(response.json()["success"])`,
            ),
            sample('Text', 'ShareX', 'The ShareX history contains the deletion URL of each upload.'),
          ],
        }),
        get: operation('askDeletion', 'Images', 'Confirm a deletion', {
          description:
            'The confirmation page behind the `delete` URL. GET never deletes the image, because link previews fetch the URL.',
          parameters: [KEY_PARAMETER],
          responses: {
            200: response('A page with a button that deletes the image.', `${UNCACHED_PAGE} ${CORS}`, HTML),
            ...refusals('page', 'unavailable missing-key unknown-key removed', CORS),
          },
        }),
        options: preflight('deleteOptions', 'DELETE', CORS),
      },
      '/raw/{name}': {
        get: operation('getImage', 'Images', 'Download an image', {
          description:
            'Returns the image file. Conditional requests and single byte ranges are supported. The file extension is ' +
            'optional, but a wrong one returns 404. Clients that prefer `text/html`, such as a browser that opens the URL ' +
            'directly, get errors as a page. `Repr-Digest` is always SHA-256: `Want-Repr-Digest` is ignored (RFC 9530, 4).',
          parameters: RAW_PARAMETERS,
          responses: {
            ...IMAGE_RESPONSES,
            206: response('The requested byte range.', `${IMAGE} Content-Range`, BYTES),
            ...RANGE_REFUSALS,
          },
          'x-codeSamples': [
            sample('Shell', 'curl', `curl -OJ '${raw}?dl=1'`),
            sample('JavaScript', 'fetch', `const blob = await (await fetch('${raw}')).blob()`),
            sample('HTML', 'HTML', `<img src="${raw}.png" alt="">`),
            sample(
              'Python',
              'Python',
              `import requests

image = requests.get("${raw}").content`,
            ),
          ],
        }),
        head: operation('headImage', 'Images', 'Get the headers of an image', {
          parameters: RAW_PARAMETERS,
          responses: {
            ...IMAGE_RESPONSES,
            ...IMAGE_REFUSALS,
          },
        }),
      },
      '/preview/{id}': {
        get: operation('getPreview', 'Images', 'Download the preview of an image', {
          description:
            'Returns a smaller version of the image: at most 1,200 pixels per side and 120 KiB. Previews are created by the ' +
            'client that uploads the image. Conditional requests and single byte ranges are supported.',
          parameters: ID_PARAMETERS,
          responses: {
            ...PREVIEW_RESPONSES,
            206: response('The requested byte range.', `${IMAGE} Content-Range`, PREVIEW_BYTES),
            ...RANGE_REFUSALS,
          },
        }),
        head: operation('headPreview', 'Images', 'Get the headers of a preview', {
          parameters: ID_PARAMETERS,
          responses: {
            ...PREVIEW_RESPONSES,
            ...IMAGE_REFUSALS,
          },
        }),
      },
      '/{id}': {
        get: operation('viewImage', 'Images', 'View an image', {
          description:
            'The page that share links open, with the metadata that chat apps need to show a link preview.',
          parameters: ID_PARAMETERS,
          responses: {
            200: response('The page.', PAGE, HTML),
            ...refusals('page', 'unavailable not-found removed held'),
          },
        }),
      },
      '/api/challenge': {
        get: operation('readChallenge', 'Images', 'Get a challenge before an upload', {
          description:
            'Returns a proof-of-work challenge. Challenges are disabled by default; this endpoint then returns 404.',
          parameters: [
            inQuery(
              'for',
              'Set to pass for a challenge whose solution earns a pass. By default, the challenge is for the next upload.',
              { const: 'pass' },
            ),
          ],
          responses: {
            200: response(
              'The challenge to solve.',
              `${UNCACHED} ${CORS}`,
              json({ $ref: '#/components/schemas/Challenge' }),
            ),
            204: response('The next upload from this address needs no challenge.', `${UNCACHED} ${CORS}`),
          },
        }),
      },
      '/api/pass': {
        post: operation('getPass', 'Images', 'Get a pass for a solved challenge', {
          description:
            `A pass replaces the challenges of ${PASS_UPLOADS} uploads within 24 hours, from any address. The request has no body. ` +
            'Challenges are disabled by default; this endpoint then returns 404.',
          parameters: [{ ...SOLUTION_PARAMETER, required: true }],
          responses: {
            201: response('The pass.', UNCACHED, json({ $ref: '#/components/schemas/Pass' })),
            ...refusals('either', 'challenge-required cross-site'),
          },
        }),
      },
      '/pass': { get: page('passPage', 'Get a pass in the browser') },
      '/api/report': {
        post: operation('report', 'Reports', 'Report an image', {
          description:
            'The operator reviews every report; a report alone removes nothing. The number of reports is limited by address, ' +
            'network and severity.',
          requestBody: {
            description: 'The report.',
            required: true,
            content: json({
              type: 'object',
              properties: {
                image: { ...string, description: 'Link or ID of the image.' },
                category: CATEGORY,
                text: { ...string, minLength: REPORT_TEXT.min, maxLength: REPORT_TEXT.max },
                name: CONTACT,
                email: CONTACT,
                signature: {
                  ...string,
                  description: `Full name. Required for ${categoriesWhere(({ needsSignature }) => needsSignature)}.`,
                },
                goodFaith: {
                  const: true,
                  description: 'Confirms that the reporter believes the report to be accurate and complete.',
                },
              },
              required: ['image', 'category', 'text', 'goodFaith'],
            }),
          },
          responses: {
            202: response(
              'The report is filed, now or earlier. The receipt URL shows its state. If an image is reported many times, only ' +
                'the first reports are kept in full; further ones are counted and share a receipt.',
              `${UNCACHED} Location`,
              json(object({ receipt: { type: 'string', format: 'uri' } })),
            ),
            ...refusals('either', REPORT_REFUSALS, '', { 429: 'Retry-After' }),
          },
        }),
      },
      '/report': {
        get: {
          ...page('askReport', 'Report form'),
          parameters: [inQuery('id', 'The image ID.')],
          responses: {
            200: response('The form.', PAGE, HTML),
            ...refusals('page', 'unavailable not-found'),
          },
        },
        post: operation('reportByForm', 'Pages', 'Submit the report form', {
          requestBody: {
            description: 'The same fields as in JSON, except that the confirmation is named good-faith.',
            required: true,
            content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
          },
          responses: {
            303: response('Redirect to the receipt.', `${UNCACHED} Location.receipt`),
            ...refusals('either', `not-a-form ${REPORT_REFUSALS}`, '', { 429: 'Retry-After' }),
          },
        }),
      },
      '/receipt/{secret}': {
        get: operation('readReceipt', 'Reports', 'Get the state of a report', {
          parameters: [inPath('secret', 'The secret in the receipt URL.', text('^[0-9a-f]{64}$'))],
          responses: {
            200: response(
              'The state of the report, as JSON or as a page depending on `Accept`.',
              UNCACHED_PAGE,
              {
                ...json(
                  object({
                    category: CATEGORY,
                    reported: { type: 'string', format: 'date-time' },
                    state: { enum: ['open', 'held', 'kept', 'removed'] },
                    decided: { type: ['string', 'null'], format: 'date-time' },
                  }),
                ),
                ...HTML,
              },
            ),
            ...refusals('either', 'unavailable'),
          },
        }),
      },
      '/': { get: page('home', 'Upload page', `${PAGE} Link`) },
      '/api': { get: page('readApi', 'API reference (web page)', `${PAGE} Link`) },
      '/tools': { get: page('readTools', 'Instructions for uploading with other tools') },
      '/g': { get: page('readGallery', 'Gallery: shows the images that the fragment lists') },
      '/terms': { get: page('readTerms', 'Terms of use') },
      '/rules': { get: redirectToTerms('readRules', 'Rules for uploads') },
      '/contact': { get: redirectToTerms('readContact', 'Contact of the operator') },
      '/transparency': {
        get: {
          ...page('readTransparency', 'Transparency report: reports and decisions'),
          responses: { 200: response('The page.', PAGE, HTML), ...refusals('page', 'unavailable') },
        },
      },
      '/.well-known/security.txt': {
        get: operation(
          'readSecurity',
          'Pages',
          'How to report a security vulnerability (RFC 9116), if the operator has published a contact',
          {
            responses: { 200: response('The file.', UNCACHED, { 'text/plain': {} }) },
          },
        ),
      },
      '/delete': {
        post: operation('deleteByForm', 'Pages', 'Submit the deletion form', {
          requestBody: {
            description: 'The deletion key.',
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: { type: 'object', properties: { key: string }, required: ['key'] },
              },
            },
          },
          responses: {
            200: response('A page that confirms the deletion.', UNCACHED_PAGE, HTML),
            ...refusals('page', 'not-a-form body-too-large unavailable missing-key unknown-key'),
          },
        }),
      },
      '/openapi.json': {
        get: cachedDocument('readDocument', 'API reference (OpenAPI)', 'application/json', {
          type: 'object',
        }),
      },
      '/.well-known/api-catalog': {
        get: cachedDocument(
          'readCatalog',
          'API catalog (RFC 9727)',
          'application/linkset+json',
          object({ linkset: { type: 'array' } }),
        ),
      },
      '/oembed': {
        get: operation('oembed', 'Tools', 'Embed an image (https://oembed.com, type photo)', {
          parameters: [
            { ...inQuery('url', 'The URL of an image page.'), required: true },
            inQuery('maxwidth', 'Maximum width in pixels. The returned dimensions are scaled to fit.'),
            inQuery('maxheight', 'Maximum height in pixels. The returned dimensions are scaled to fit.'),
            inQuery('format', 'Only json, the default, is supported.'),
          ],
          responses: {
            200: response(
              'The oEmbed data of the image.',
              `${UNCACHED} ${ANY_SITE}`,
              json(
                object(
                  {
                    version: { const: '1.0' },
                    type: { const: 'photo' },
                    provider_name: string,
                    provider_url: string,
                    url: { ...string, description: 'URL of the image file.' },
                    width: integer(1),
                    height: integer(1),
                    thumbnail_url: { ...string, description: 'URL of the preview, if there is one.' },
                    thumbnail_width: integer(1),
                    thumbnail_height: integer(1),
                    cache_age: { type: 'integer', description: 'Suggested cache lifetime in seconds.' },
                  },
                  ['thumbnail_url', 'thumbnail_width', 'thumbnail_height'],
                ),
              ),
            ),
            ...refusals(
              'either',
              'unavailable missing-url unsupported-format not-found removed held',
              ANY_SITE,
            ),
          },
        }),
      },
      '/llms.txt': { get: tool('readLlms', 'Upload instructions for AI agents', 'text/plain') },
      '/robots.txt': { get: tool('readRobots', 'Rules for crawlers', 'text/plain') },
      '/sharex.sxcu': {
        get: operation('readShareX', 'Tools', 'ShareX configuration', {
          parameters: [EXPIRES_QUERY],
          responses: {
            200: response(TOOL, `${UNCACHED} Content-Disposition`, { 'application/json': {} }),
            ...refusals('problem', 'bad-expires'),
          },
        }),
      },
      '/upload.sh': { get: tool('readScript', 'Shell script for uploads', 'text/x-shellscript') },
      '/healthz': {
        get: operation('readHealth', 'Health', 'Liveness check', {
          responses: {
            200: response('The process is alive.', UNCACHED, json(object({ status: { const: 'ok' } }))),
          },
        }),
      },
      '/readyz': {
        get: operation('readReadiness', 'Health', 'Readiness check', {
          responses: {
            200: response('The service is ready.', UNCACHED, json(READINESS)),
            503: response(
              'The service is not ready. The failing components are listed.',
              UNCACHED,
              json(READINESS),
            ),
          },
        }),
      },
    },
    components: {
      schemas: {
        Upload: object(
          {
            id: {
              ...text(ID_PATTERN),
              description: 'Unique ID of the image: 11 letters and digits.',
            },
            link: {
              ...text(`^${baseUrl}/[0-9A-Za-z]{11}$`),
              description: 'URL of the page that shows the image.',
            },
            key: {
              ...text(KEY_PATTERN),
              description:
                'The deletion key: the only credential that can delete the image. It is returned only once, so store it.',
            },
            delete: {
              ...text(`^${baseUrl}/api/delete\\?key=`),
              description:
                'Deletion URL. GET returns a confirmation page; DELETE deletes the image immediately.',
            },
            expires: {
              ...text(TIME_PATTERN),
              description:
                'When the image expires (RFC 3339, UTC). Absent if the image is kept until it is deleted.',
            },
          },
          ['expires'],
        ),
        Deletion: object({ success: { const: true } }),
        Challenge: object({
          token: {
            ...text('^[\\w.-]{1,200}$'),
            description: 'Identifies the challenge. Signed by the server.',
          },
          algorithm: {
            const: 'PBKDF2-SHA-256',
            description:
              'For each n from 0 to answers - 1, find an integer c below 2^32 such that PBKDF2-HMAC-SHA-256 with the password ' +
              'token, the salt "n.c" (ASCII, decimal) and the given number of iterations begins with the given number of zero bits.',
          },
          iterations: integer(1),
          bits: integer(1),
          answers: integer(1),
          expires: {
            ...text(TIME_PATTERN),
            description: 'The solution must be used before this time.',
          },
        }),
        Pass: object({
          pass: { ...text(PASS_PATTERN), description: 'Send it as Authorization: Bearer.' },
          uploads: integer(1),
          expires: text(TIME_PATTERN),
        }),
        Problem: object(
          {
            type: {
              ...string,
              description: 'Link to the explanation of the code, relative to the request URL.',
            },
            title: { ...string, description: 'The reason phrase of the HTTP status.' },
            status: { type: 'integer', description: 'The HTTP status.' },
            detail: { ...string, description: 'A human-readable explanation of the error.' },
            error: { ...text('^[a-z]+(-[a-z]+)*$'), description: 'A stable, machine-readable error code.' },
            retryAfter: {
              ...integer(1),
              description: 'The number of seconds to wait before retrying, if known.',
            },
            challenge: {
              $ref: '#/components/schemas/Challenge',
              description: 'The challenge to solve. Only with `challenge-required`.',
            },
            success: { const: false, description: 'Only in responses to a deletion.' },
          },
          ['retryAfter', 'challenge', 'success'],
        ),
      },
      headers: HEADERS,
      responses: Object.fromEntries(
        Object.entries(
          refusals('either', REFUSALS_ANYWHERE, '', {
            405: `Allow ${MAYBE_RATE} ${CORS}`,
            500: `${MAYBE_RATE} ${CORS}`,
          }),
        ).map(([status, response]) => [`anywhere-${status}`, response]),
      ),
    },
  }
}
