/**
 * The interface as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.2.html), with the values that an operator sets.
 * The HTTP contract holds every answer of every host against it, and it against every answer.
 */
import { LIFETIMES, MAX_LIFETIME_SECONDS, MIN_LIFETIME_SECONDS } from './lifetimes.ts'
import { PROBLEMS, type ProblemCode, problemType, titleOf } from './problems.ts'
import {
  CDN_MAX_AGE_SECONDS,
  EXPIRES_PARAMETER,
  IMAGE_TYPES,
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
  /** An extension that other readers of OpenAPI show beside the operation. */
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
    /** Answers that any address may give, as `anywhere-STATUS`: operations do not repeat them. */
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
const text = (pattern: string): Schema => ({ type: 'string', pattern })
const whole = (minimum: number): Schema => ({ type: 'integer', minimum })

/** No members but these. `optional`: those that may be missing. */
function object(properties: Record<string, Schema>, optional: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function always(description: string, schema: Schema, example?: unknown): Header {
  return { description, required: true, schema, ...(example !== undefined && { example }) }
}

function sometimes(description: string, schema: Schema = string, example?: unknown): Header {
  return { description, schema, ...(example !== undefined && { example }) }
}

/** A name with a dot has several forms: what follows the dot tells them apart. */
const HEADERS: Record<string, Header> = {
  'X-Content-Type-Options': always('No type is guessed.', { const: 'nosniff' }),
  'Referrer-Policy': always('Links away from here tell nobody where they were.', { const: 'no-referrer' }),
  'Strict-Transport-Security': sometimes('Where the base URL is https.', text('^max-age=\\d+$')),
  'X-Request-Id': always(
    'Names the request in the log of the service.',
    text('^[\\w-]{8,}$'),
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  ),
  'Cache-Control.none': always('No cache keeps it.', { const: 'no-store' }),
  'Cache-Control.page': always('A browser asks again each time.', { const: 'private, no-cache' }),
  'Cache-Control.image': always(
    'The bytes at this address never change. For an image that expires, max-age never exceeds the time left.',
    text('^public, max-age=\\d+(, s-maxage=\\d+, must-revalidate)?, immutable$'),
    `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`,
  ),
  'Cache-Control.document': always('Kept, but asked about each time.', { const: 'no-cache' }),
  Vary: sometimes('What the answer depends on.', string, 'Accept'),
  Link: sometimes('Where else to look (RFC 8288).', string, '</openapi.json>; rel="service-desc"'),
  Allow: sometimes('The methods that the address takes.', text('^[A-Z]+(, [A-Z]+)*$'), 'GET, HEAD'),
  Location: always('An absolute address.', text('^https?://')),
  'Location.preview': always(
    'On this host, or an absolute address where a resizer makes previews.',
    text('^(https?:/)?/'),
  ),
  'X-RateLimit-Limit': always('Images that one address may store in a UTC day.', whole(1), 100),
  'X-RateLimit-Remaining': always('How many of them are left today.', whole(0), 73),
  'RateLimit-Policy': always(
    'The quota as a structured field (draft-ietf-httpapi-ratelimit-headers).',
    text('^"uploads";q=\\d+;w=\\d+$'),
    '"uploads";q=100;w=86400',
  ),
  RateLimit: always(
    'What is left of it, and seconds until it is whole again.',
    text('^"uploads";r=\\d+;t=\\d+$'),
    '"uploads";r=73;t=18233',
  ),
  'RateLimit-Policy.sometimes': sometimes('On answers of the upload.'),
  'RateLimit.sometimes': sometimes('On answers of the upload.'),
  'X-RateLimit-Limit.sometimes': sometimes('On answers of the upload.', whole(1), 100),
  'X-RateLimit-Remaining.sometimes': sometimes('On answers of the upload.', whole(0), 73),
  'Retry-After': always('Seconds until it is worth another try.', whole(1), 18233),
  ETag: always('SHA-256 of the bytes, in hex, quoted.', text('^"[0-9a-f]{64}"$')),
  'ETag.document': always(
    'The same of the plain bytes, and how they are compressed.',
    text('^"[0-9a-f]{64}(-br|-gzip)?"$'),
  ),
  'Repr-Digest': always('The same, as RFC 9530 writes it.', text('^sha-256=:[A-Za-z0-9+/]{43}=:$')),
  'Accept-Ranges': always('Parts can be asked for.', { const: 'bytes' }),
  'Content-Range': always('Which part it is, and of how many bytes.', text('^bytes (\\d+-\\d+|\\*)/\\d+$')),
  'Content-Disposition': always(
    'The name to save it under.',
    text('^(inline|attachment); filename="[^"]+"$'),
  ),
  'Content-Security-Policy': sometimes('What the answer may load if it is opened as a page.'),
  'Cross-Origin-Resource-Policy': always('Any site may show it.', { const: 'cross-origin' }),
  'X-Robots-Tag': always('Search engines leave it out.', { const: 'noindex' }),
  'CDN-Cache-Control.image': always(
    'How long caches that the operator can purge keep it (RFC 9213).',
    text('^public, max-age=\\d+, must-revalidate$'),
    `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`,
  ),
  'CDN-Cache-Control.page': sometimes('No shared cache keeps a page.', { const: 'no-store' }),
  'Cache-Tag': always('What the image is purged by.', string),
  'Cloudflare-CDN-Cache-Control': sometimes('For Cloudflare.'),
  'Surrogate-Control': sometimes('For Fastly.'),
  'Surrogate-Key': sometimes('For Fastly.'),
  'X-Accel-Expires': sometimes('For nginx.'),
  'Access-Control-Allow-Origin.any': always('Scripts of any site may read it.', { const: '*' }),
  'Access-Control-Allow-Origin': sometimes('For origins that the operator lists.'),
  'Access-Control-Allow-Methods': sometimes('For the same.'),
  'Access-Control-Allow-Headers': sometimes('For the same.'),
  'Access-Control-Expose-Headers': sometimes('For the same.'),
  'Access-Control-Max-Age': sometimes('For the same.', whole(1)),
  'Cross-Origin-Opener-Policy': sometimes('On pages.', { const: 'same-origin' }),
  'Permissions-Policy': sometimes('On pages.'),
  'X-Frame-Options': sometimes('On pages.', { const: 'DENY' }),
  'Content-Encoding': sometimes('On pages and documents, where the client takes it.', {
    enum: ['gzip', 'br'],
  }),
}

// Groups of headers, by their names in that table; and of codes, by theirs in `PROBLEMS`.
const COMMON = 'X-Content-Type-Options Referrer-Policy Strict-Transport-Security'
const UNCACHED = `${COMMON} Cache-Control.none X-Request-Id`
const ON_PAGES =
  'CDN-Cache-Control.page Content-Security-Policy Cross-Origin-Opener-Policy Permissions-Policy X-Frame-Options ' +
  'Content-Encoding Vary'
const PAGE = `${COMMON} Cache-Control.page X-Request-Id ${ON_PAGES}`
/** A refusal comes as problem details or as a page; and a page with a key in it is not kept either. */
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
const REFUSALS_ANYWHERE =
  'too-slow not-found method-not-allowed bad-request expectation-failed headers-too-large internal-error'

const HTML: Content = { 'text/html': { schema: string } }
const BYTES: Content = Object.fromEntries(IMAGE_TYPES.map((type) => [type, {}]))
const json = (schema: Schema, examples?: MediaType['examples']): Content => ({
  'application/json': { schema, ...(examples && { examples }) },
})

function answer(description: string, headers: string, content?: Content): ApiResponse {
  const refs = headers
    .split(' ')
    .map((name) => [name.split('.')[0], { $ref: `#/components/headers/${name}` }] as const)
  return { description, headers: Object.fromEntries(refs), ...(content && { content }) }
}

/**
 * What an operation refuses with, by status. `form`: `problem` always as problem details, `page` always for people,
 * `either` as `Accept` asks. `codes`: with spaces between them, as headers are. `more`: headers besides those of every refusal;
 * of one status, after its number.
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
      answer(
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
  ...inQuery('key', 'The deletion key that the upload returned.', text('^[0-9A-Za-z]{43}$'), KEY),
  required: true,
}

const EXPIRES_QUERY: Parameter = inQuery(
  EXPIRES_PARAMETER,
  `How long the image stays: ${Object.keys(LIFETIMES).join(', ')}, or seconds from ${MIN_LIFETIME_SECONDS} to ` +
    `${MAX_LIFETIME_SECONDS}. From then on it is as if it had been deleted. Without it the image stays until its key deletes ` +
    'it, or for as long as the operator says; the member expires of the answer tells.',
  text(`^(${Object.keys(LIFETIMES).join('|')}|\\d{1,9})$`),
  '1d',
)

const SOLUTION_PARAMETER: Parameter = inHeader(
  SOLUTION_HEADER,
  'The solution of a challenge: its token, a colon, and the answers with commas between them. It is accepted once.',
  text('^[\\w.-]{1,200}:\\d{1,10}(,\\d{1,10}){0,15}$'),
)

const RAW_PARAMETERS: Parameter[] = [
  inPath(
    'name',
    'The id, alone or with the extension of the type.',
    text('^[0-9A-Za-z]{11}(\\.(jpg|png|gif|webp|avif))?$'),
    `${ID}.png`,
  ),
  inQuery(
    'dl',
    '1: to save the image instead of showing it. Any other query is redirected to the address without it.',
    { const: 1 },
  ),
  ...['If-Match', 'If-None-Match', 'Range', 'If-Range'].map((name) => inHeader(name, 'As RFC 9110 says.')),
]

const IMAGE_ANSWERS = {
  200: answer('The bytes.', IMAGE, BYTES),
  304: answer('What the client has is still current.', IMAGE, BYTES),
  308: answer(
    'The address without its meaningless parts.',
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

const ID_PARAMETERS: Parameter[] = [inPath('id', 'The id of the image.', text('^[0-9A-Za-z]{11}$'), ID)]

const PREVIEW_BYTES: Content = Object.fromEntries(PREVIEW_TYPES.map((type) => [type, {}]))

const PREVIEW_ANSWERS = {
  200: answer('The bytes.', IMAGE, PREVIEW_BYTES),
  304: answer('What the client has is still current.', IMAGE, PREVIEW_BYTES),
  307: answer('No preview came with the image: the address of its bytes.', PREVIEW_REDIRECT),
  308: IMAGE_ANSWERS[308],
}

const CATEGORY = { enum: Object.keys(CATEGORIES) }
const categoriesWhere = (holds: (rules: (typeof CATEGORIES)[keyof typeof CATEGORIES]) => boolean): string =>
  Object.entries(CATEGORIES)
    .flatMap(([name, rules]) => (holds(rules) ? [name] : []))
    .join(', ')

const READINESS = object(
  {
    status: { enum: ['ok', 'unavailable'] },
    store: string,
    ledger: string,
    clock: string,
    purgesOwed: whole(0),
    oldestPurgeSeconds: { type: 'number', minimum: 0 },
  },
  ['store', 'ledger', 'clock', 'purgesOwed', 'oldestPurgeSeconds'],
)

/** Asked before a browser lets a script of another site send (Fetch, 4.8). */
function preflight(operationId: string, methods: string, more: string): Operation {
  return operation(operationId, 'Images', `Ask which sites' scripts may ${methods}`, {
    responses: { 204: answer('The headers say so.', `${UNCACHED} Allow ${more}`) },
  })
}

function page(operationId: string, summary: string, headers = PAGE): Operation {
  return operation(operationId, 'Pages', summary, { responses: { 200: answer('The page.', headers, HTML) } })
}

function moved(operationId: string, summary: string): Operation {
  const responses = { 307: answer('It is a part of the terms.', `${UNCACHED} Location`) }
  return operation(operationId, 'Pages', summary, { responses })
}

const TOOL = 'With the address of this service in it.'

function tool(operationId: string, summary: string, type: string): Operation {
  return operation(operationId, 'Tools', summary, {
    responses: { 200: answer(TOOL, UNCACHED, { [type]: {} }) },
  })
}

/** Cacheable, and revalidated with its ETag. */
function described(operationId: string, summary: string, type: string, schema: Schema): Operation {
  const responses = {
    200: answer('The document.', DOCUMENT, { [type]: { schema } }),
    304: answer('What the client has is what is here.', DOCUMENT),
  }
  return operation(operationId, 'Tools', summary, { responses })
}

/** The interface as one service offers it: its address, its largest file and its quota stand in the text. */
export function createDocument({ baseUrl, maxUploadBytes, uploadsPerDay }: ApiSettings): ApiDocument {
  const link = `${baseUrl}/${ID}`
  const raw = `${baseUrl}/raw/${ID}`
  const deletion = `${baseUrl}/api/delete?key=${KEY}`
  return {
    openapi: '3.1.2',
    info: {
      title: 'Pinhole',
      version: '1',
      summary: 'Anonymous image sharing: send a picture, get a link, delete it with a key.',
      description:
        'No account and no API key. Errors are problem details (RFC 9457) with a stable code in `error`; ' +
        '`type` leads to its explanation. HEAD works wherever GET does. What is going to be removed says so beforehand, ' +
        'in the headers Deprecation (RFC 9745) and Sunset (RFC 8594).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    externalDocs: { url: `${baseUrl}/api`, description: 'The same for people, with every error code.' },
    tags: [
      { name: 'Images', description: 'Upload, view, fetch and delete images.' },
      { name: 'Reports', description: 'Report an image to the operator, and see what was decided.' },
      { name: 'Tools', description: 'Settings and descriptions that tools fetch.' },
      { name: 'Pages', description: 'What browsers open.' },
      { name: 'Health', description: 'For load balancers and monitoring.' },
    ],
    paths: {
      '/api/upload': {
        post: operation('upload', 'Images', 'Upload an image', {
          description:
            'A form with exactly one part, named `file`: JPEG, PNG, GIF, WebP or AVIF of at most ' +
            `${maxUploadBytes} bytes. The type is read from the bytes; the file name and the declared type are ignored. ` +
            `An address stores at most ${uploadsPerDay} images in a UTC day; refused uploads do not count. ` +
            'Metadata that says where, by whom and with what a picture was taken is not stored, unless the operator ' +
            'turned that off; pixels are never touched, and GIF is stored as it comes.',
          parameters: [
            inHeader(
              'Accept',
              'text/plain for the link alone, text/html for a page; JSON for all others.',
              string,
              'application/json',
            ),
            EXPIRES_QUERY,
            inHeader(
              'Content-Digest',
              'Of the whole form (RFC 9530): sha-256 or sha-512. Another form than that is refused.',
              string,
              'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
            ),
            inHeader(
              'Idempotency-Key',
              'Generate one for each image, of at least 128 random bits, and send it again with each repeat: the same ' +
                'image gets the same answer and counts once. It is a secret, for it leads to the deletion key. Stop ' +
                `repeating after ${REPEAT_SECONDS} seconds: a repeat that comes after the image was deleted stores it again.`,
              text('^[\\x21-\\x7e]{22,255}$'),
              'c1f0a8de-0f4d-4e0b-9d5b-3a4c7fae2b11',
            ),
            SOLUTION_PARAMETER,
            inHeader(
              'Authorization',
              `Where challenges are on: Bearer and a pass, which is good for ${PASS_UPLOADS} uploads of one day. It is used ` +
                `from the upload of the day on that follows the first ${UNCHALLENGED_UPLOADS} of an address.`,
            ),
          ],
          requestBody: {
            description: 'The image.',
            required: true,
            content: {
              'multipart/form-data': {
                // The format is OpenAPI 3.0's: generators still know a file by it.
                schema: object({ file: { type: 'string', format: 'binary' } }),
                encoding: { file: { contentType: IMAGE_TYPES.join(', ') } },
              },
            },
          },
          responses: {
            201: answer(
              'The image is stored, and survives a crash of the service.',
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
const answer = await fetch('${baseUrl}/api/upload', { method: 'POST', body: form })
const told = await answer.json()
if (!answer.ok) throw new Error(told.detail)
const { link, key } = told`,
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
    answer = requests.post("${baseUrl}/api/upload", files={"file": image})
told = answer.json()
if not answer.ok:
    raise RuntimeError(told["detail"])
print(told["link"], told["key"])`,
            ),
            sample(
              'Text',
              'ShareX',
              `Open ${baseUrl}/sharex.sxcu in a browser, then open the file that it saves.`,
            ),
          ],
        }),
        options: preflight('uploadOptions', 'POST', `${RATE} ${CORS}`),
      },
      '/api/delete': {
        delete: operation('deleteImage', 'Images', 'Delete an image', {
          description:
            'Permanent: when it answers true, this service never serves the image again, and its bytes are gone. ' +
            'Copies that caches and chats made are not its own; caches that the operator can reach are told.',
          parameters: [KEY_PARAMETER],
          responses: {
            200: answer(
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
              `const answer = await fetch('${deletion}', { method: 'DELETE' })
const { success } = await answer.json()`,
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

answer = requests.delete("${baseUrl}/api/delete", params={"key": "${KEY}"})
print(answer.json()["success"])`,
            ),
            sample('Text', 'ShareX', 'Its history has the deletion address of each upload.'),
          ],
        }),
        get: operation('askDeletion', 'Images', 'Ask before deleting', {
          description:
            'The `delete` address opened in a browser. It never deletes: previews of links fetch it.',
          parameters: [KEY_PARAMETER],
          responses: {
            200: answer(
              'A page with a button that deletes, or one that says that it is done.',
              `${UNCACHED_PAGE} ${CORS}`,
              HTML,
            ),
            ...refusals('page', 'unavailable missing-key unknown-key removed', CORS),
          },
        }),
        options: preflight('deleteOptions', 'DELETE', CORS),
      },
      '/raw/{name}': {
        get: operation('getImage', 'Images', 'Fetch the bytes of an image', {
          description:
            'Conditions and one range are honoured. The extension may be left out; a wrong one is 404. Clients that prefer ' +
            'text/html, as browsers do when the address is opened directly, get a refusal as a page. ' +
            'Repr-Digest is always SHA-256: Want-Repr-Digest is ignored (RFC 9530, 4).',
          parameters: RAW_PARAMETERS,
          responses: {
            ...IMAGE_ANSWERS,
            206: answer('One range of them.', `${IMAGE} Content-Range`, BYTES),
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
        head: operation('headImage', 'Images', 'Fetch the headers of an image', {
          parameters: RAW_PARAMETERS,
          responses: {
            ...IMAGE_ANSWERS,
            ...IMAGE_REFUSALS,
          },
        }),
      },
      '/preview/{id}': {
        get: operation('getPreview', 'Images', 'Fetch a small picture of an image', {
          description:
            'At most 1,200 pixels a side and 120 KiB, made by the client that uploaded the image. Conditions and one range are honoured.',
          parameters: ID_PARAMETERS,
          responses: {
            ...PREVIEW_ANSWERS,
            206: answer('One range of them.', `${IMAGE} Content-Range`, PREVIEW_BYTES),
            ...RANGE_REFUSALS,
          },
        }),
        head: operation('headPreview', 'Images', 'Fetch the headers of a preview', {
          parameters: ID_PARAMETERS,
          responses: {
            ...PREVIEW_ANSWERS,
            ...IMAGE_REFUSALS,
          },
        }),
      },
      '/{id}': {
        get: operation('viewImage', 'Images', 'Look at an image', {
          description: 'The page that links lead to, with what chats need to show the image beside the link.',
          parameters: ID_PARAMETERS,
          responses: {
            200: answer('The page.', PAGE, HTML),
            ...refusals('page', 'unavailable not-found removed held'),
          },
        }),
      },
      '/api/challenge': {
        get: operation('readChallenge', 'Images', 'Ask for a challenge ahead of an upload', {
          description: 'Proof of work. Without challenges, as by default, this address is 404.',
          parameters: [
            inQuery('for', 'pass: a challenge whose solution is a pass. Without it: for the next upload.', {
              const: 'pass',
            }),
          ],
          responses: {
            200: answer(
              'What to solve.',
              `${UNCACHED} ${CORS}`,
              json({ $ref: '#/components/schemas/Challenge' }),
            ),
            204: answer('The next upload of this address needs none.', `${UNCACHED} ${CORS}`),
          },
        }),
      },
      '/api/pass': {
        post: operation('getPass', 'Images', 'Get a pass for a solved challenge', {
          description:
            `It stands for the challenges of ${PASS_UPLOADS} uploads within 24 hours, of any address. Without a body. ` +
            'Without challenges, as by default, this address is 404.',
          parameters: [{ ...SOLUTION_PARAMETER, required: true }],
          responses: {
            201: answer('The pass.', UNCACHED, json({ $ref: '#/components/schemas/Pass' })),
            ...refusals('either', 'challenge-required cross-site'),
          },
        }),
      },
      '/pass': { get: page('passPage', 'A page that solves a challenge for a pass') },
      '/api/report': {
        post: operation('report', 'Reports', 'Report an image', {
          description:
            'Somebody looks at it; a report alone removes nothing. Reports have budgets by address, network and severity.',
          requestBody: {
            description: 'The report.',
            required: true,
            content: json({
              type: 'object',
              properties: {
                image: { ...string, description: 'Link or id of the image.' },
                category: CATEGORY,
                text: { ...string, minLength: REPORT_TEXT.least, maxLength: REPORT_TEXT.most },
                name: {
                  ...string,
                  description: `Required for ${categoriesWhere(({ contact }) => contact === 'required')}.`,
                },
                email: { ...string, description: 'Likewise.' },
                signature: {
                  ...string,
                  description: `The full name. Required for ${categoriesWhere(({ needsSignature }) => needsSignature)}.`,
                },
                goodFaith: { const: true, description: 'What is said is believed to be right and complete.' },
              },
              required: ['image', 'category', 'text', 'goodFaith'],
            }),
          },
          responses: {
            202: answer(
              'It is filed, or was before. The receipt shows what becomes of it. When an image is reported many times, only the first reports are kept word for word; the others are counted, and share a receipt.',
              `${UNCACHED} Location`,
              json(object({ receipt: { type: 'string', format: 'uri' } })),
            ),
            ...refusals(
              'either',
              'cross-site body-too-large unavailable bad-report too-many-reports not-found',
              '',
              { 429: 'Retry-After' },
            ),
          },
        }),
      },
      '/report': {
        get: {
          ...page('askReport', 'The form for reports'),
          parameters: [{ name: 'id', in: 'query', description: 'Of the image.', schema: string }],
          responses: {
            200: answer('The form.', PAGE, HTML),
            ...refusals('page', 'unavailable not-found'),
          },
        },
        post: operation('reportByForm', 'Pages', 'Report an image by that form', {
          requestBody: {
            description: 'As in JSON; the confirmation is named good-faith.',
            required: true,
            content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
          },
          responses: {
            303: answer('The receipt is there.', `${UNCACHED} Location`),
            ...refusals(
              'either',
              'cross-site not-a-form body-too-large unavailable bad-report too-many-reports not-found',
              '',
              { 429: 'Retry-After' },
            ),
          },
        }),
      },
      '/receipt/{secret}': {
        get: operation('readReceipt', 'Reports', 'What became of a report', {
          parameters: [
            {
              name: 'secret',
              in: 'path',
              required: true,
              description: 'Of the receipt.',
              schema: text('^[0-9a-f]{64}$'),
            },
          ],
          responses: {
            200: answer('Its state, as `Accept` asks.', UNCACHED_PAGE, {
              ...json(
                object({
                  category: CATEGORY,
                  reported: { type: 'string', format: 'date-time' },
                  state: { enum: ['open', 'held', 'kept', 'removed'] },
                  decided: { type: ['string', 'null'], format: 'date-time' },
                }),
              ),
              ...HTML,
            }),
            ...refusals('either', 'unavailable'),
          },
        }),
      },
      '/': { get: page('home', 'The page to upload from', `${PAGE} Link`) },
      '/api': { get: page('readApi', 'This reference, for people', `${PAGE} Link`) },
      '/tools': { get: page('readTools', 'How to upload from elsewhere') },
      '/terms': { get: page('readTerms', 'The terms') },
      '/rules': { get: moved('readRules', 'What may be uploaded') },
      '/contact': { get: moved('readContact', 'Who runs the service') },
      '/transparency': {
        get: {
          ...page('readTransparency', 'What was reported, and what was decided'),
          responses: { 200: answer('The page.', PAGE, HTML), ...refusals('page', 'unavailable') },
        },
      },
      '/.well-known/security.txt': {
        get: operation(
          'readSecurity',
          'Pages',
          'How to report a hole (RFC 9116), if the operator says how to be reached',
          {
            responses: { 200: answer('The file.', UNCACHED, { 'text/plain': {} }) },
          },
        ),
      },
      '/delete': {
        post: operation('deleteByForm', 'Pages', 'Delete an image by the form of the page that asks', {
          requestBody: {
            description: 'The key.',
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: { type: 'object', properties: { key: string }, required: ['key'] },
              },
            },
          },
          responses: {
            200: answer('A page that says so.', UNCACHED_PAGE, HTML),
            ...refusals('page', 'cross-site not-a-form body-too-large unavailable missing-key unknown-key'),
          },
        }),
      },
      '/openapi.json': {
        get: described('readDocument', 'This reference, for programs', 'application/json', {
          type: 'object',
        }),
      },
      '/.well-known/api-catalog': {
        get: described(
          'readCatalog',
          'Where the reference is (RFC 9727)',
          'application/linkset+json',
          object({ linkset: { type: 'array' } }),
        ),
      },
      '/oembed': {
        get: operation('oembed', 'Tools', 'Embed an image (https://oembed.com, type photo)', {
          parameters: [
            { ...inQuery('url', 'The page of the image.'), required: true },
            inQuery('maxwidth', 'Pixels: width and height are told as they fit.'),
            inQuery('maxheight', 'The same.'),
            inQuery('format', 'json, or nothing.'),
          ],
          responses: {
            200: answer(
              'The image.',
              `${UNCACHED} ${ANY_SITE}`,
              json(
                object(
                  {
                    version: { const: '1.0' },
                    type: { const: 'photo' },
                    provider_name: string,
                    provider_url: string,
                    url: { ...string, description: 'Of the bytes.' },
                    width: whole(1),
                    height: whole(1),
                    thumbnail_url: { ...string, description: 'Of the preview, if it has one.' },
                    thumbnail_width: whole(1),
                    thumbnail_height: whole(1),
                    cache_age: { type: 'integer', description: 'Seconds.' },
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
      '/llms.txt': { get: tool('readLlms', 'How programs that read prose upload', 'text/plain') },
      '/robots.txt': { get: tool('readRobots', 'What crawlers may look at', 'text/plain') },
      '/sharex.sxcu': {
        get: operation('readShareX', 'Tools', 'Settings for ShareX', {
          parameters: [EXPIRES_QUERY],
          responses: {
            200: answer(TOOL, `${UNCACHED} Content-Disposition`, { 'application/json': {} }),
            ...refusals('problem', 'bad-expires'),
          },
        }),
      },
      '/upload.sh': { get: tool('readScript', 'A script for the shell', 'text/x-shellscript') },
      '/healthz': {
        get: operation('readHealth', 'Health', 'Whether the process is alive', {
          responses: { 200: answer('It is.', UNCACHED, json(object({ status: { const: 'ok' } }))) },
        }),
      },
      '/readyz': {
        get: operation('readReadiness', 'Health', 'Whether the service can do its work', {
          responses: {
            200: answer('It can.', UNCACHED, json(READINESS)),
            503: answer('It can not: its parts are named.', UNCACHED, json(READINESS)),
          },
        }),
      },
    },
    components: {
      schemas: {
        Upload: object(
          {
            id: { ...text('^[0-9A-Za-z]{11}$'), description: 'Identifies the image: 11 letters and digits.' },
            link: { ...text(`^${baseUrl}/[0-9A-Za-z]{11}$`), description: 'The page that shows the image.' },
            key: {
              ...text('^[0-9A-Za-z]{43}$'),
              description: 'The only credential that deletes the image. It is told once.',
            },
            delete: {
              ...text(`^${baseUrl}/api/delete\\?key=`),
              description: 'A page that asks before it deletes; DELETE deletes at once.',
            },
            expires: {
              ...text(TIME_PATTERN.source),
              description:
                'From then on the image is gone (RFC 3339). Absent if it stays until it is deleted.',
            },
          },
          ['expires'],
        ),
        Deletion: object({ success: { const: true } }),
        Challenge: object({
          token: { ...text('^[\\w.-]{1,200}$'), description: 'Names it, and is signed by the service.' },
          algorithm: {
            const: 'PBKDF2-SHA-256',
            description:
              'For each n from 0 to answers - 1 find a whole number c below 2^32, so that PBKDF2-HMAC-SHA-256 of the ' +
              'password token and the salt "n.c" begins with as many zero bits as bits says.',
          },
          iterations: whole(1),
          bits: whole(1),
          answers: whole(1),
          expires: { ...text(TIME_PATTERN.source), description: 'It must be used before that.' },
        }),
        Pass: object({
          pass: { ...text(PASS_PATTERN.source), description: 'For Authorization: Bearer.' },
          uploads: whole(1),
          expires: text(TIME_PATTERN.source),
        }),
        Problem: object(
          {
            type: { ...string, description: 'Where the code is explained, relative to this address.' },
            title: { ...string, description: 'The phrase of the status.' },
            status: { type: 'integer', description: 'The status again.' },
            detail: { ...string, description: 'What is wrong, in a sentence for people.' },
            error: { ...text('^[a-z]+(-[a-z]+)*$'), description: 'The code: stable, for programs.' },
            retryAfter: {
              ...whole(1),
              description: 'Seconds until it is worth another try, where that is known.',
            },
            challenge: {
              $ref: '#/components/schemas/Challenge',
              description: 'Of `challenge-required`: what to solve.',
            },
            success: { const: false, description: 'On answers to a deletion.' },
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
