/** Headers of answers. A name with a dot has several forms: what follows the dot tells them apart. */
import {
  CDN_MAX_AGE_SECONDS,
  RATE_FIELD,
  RATE_LIMIT_HEADER,
  RATE_POLICY_FIELD,
  RATE_REMAINING_HEADER,
  RAW_MAX_AGE_SECONDS,
  REQUEST_ID_HEADER,
} from '../protocol.ts'
import type { HeaderObject, Ref, Schema } from './shapes.ts'

const text = (pattern?: string): Schema => ({ type: 'string', ...(pattern ? { pattern } : {}) })
const whole = (minimum: number): Schema => ({ type: 'integer', minimum })

function always(description: string, schema: Schema, example?: unknown): HeaderObject {
  return { description, required: true, schema, ...(example === undefined ? {} : { example }) }
}

function sometimes(description: string, schema: Schema, example?: unknown): HeaderObject {
  return { description, schema, ...(example === undefined ? {} : { example }) }
}

const HEADERS = {
  'X-Content-Type-Options': always('No type is guessed.', { const: 'nosniff' }),
  'Referrer-Policy': always('Links away from here tell nobody where they were.', { const: 'no-referrer' }),
  'Strict-Transport-Security': sometimes('Where the base URL is https.', text('^max-age=\\d+$')),
  [REQUEST_ID_HEADER]: always(
    'Names the request in the log of the service.',
    text('^[\\w-]{8,}$'),
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  ),
  'Cache-Control.none': always('No cache keeps it.', { const: 'no-store' }),
  'Cache-Control.page': always('A browser asks again each time.', { const: 'private, no-cache' }),
  'Cache-Control.image': always('The bytes at this address never change.', {
    const: `public, max-age=${RAW_MAX_AGE_SECONDS}, immutable`,
  }),
  'Cache-Control.document': always('Kept, but asked about each time.', { const: 'no-cache' }),
  Vary: sometimes('What the answer depends on.', text(), 'Accept'),
  Link: sometimes('Where else to look (RFC 8288).', text(), '</openapi.json>; rel="service-desc"'),
  Allow: sometimes('The methods that the address takes.', text('^[A-Z]+(, [A-Z]+)*$'), 'GET, HEAD'),
  Location: always('An absolute address.', text('^https?://')),

  [RATE_LIMIT_HEADER]: always('Images that one address may store in a UTC day.', whole(1), 100),
  [RATE_REMAINING_HEADER]: always('How many of them are left today.', whole(0), 73),
  [RATE_POLICY_FIELD]: always(
    'The quota as a structured field (draft-ietf-httpapi-ratelimit-headers).',
    text('^"uploads";q=\\d+;w=\\d+$'),
    '"uploads";q=100;w=86400',
  ),
  [RATE_FIELD]: always(
    'What is left of it, and seconds until it is whole again.',
    text('^"uploads";r=\\d+;t=\\d+$'),
    '"uploads";r=73;t=18233',
  ),
  [`${RATE_POLICY_FIELD}.sometimes` as const]: sometimes('On answers of the upload.', text()),
  [`${RATE_FIELD}.sometimes` as const]: sometimes('On answers of the upload.', text()),
  [`${RATE_LIMIT_HEADER}.sometimes` as const]: sometimes('On answers of the upload.', whole(1), 100),
  [`${RATE_REMAINING_HEADER}.sometimes` as const]: sometimes('On answers of the upload.', whole(0), 73),
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
  'Content-Security-Policy': sometimes('What the answer may load if it is opened as a page.', text()),
  'Cross-Origin-Resource-Policy': always('Any site may show it.', { const: 'cross-origin' }),
  'X-Robots-Tag': always('Search engines leave it out.', { const: 'noindex' }),
  'CDN-Cache-Control.image': always('How long caches that the operator can purge keep it (RFC 9213).', {
    const: `public, max-age=${CDN_MAX_AGE_SECONDS}, must-revalidate`,
  }),
  'CDN-Cache-Control.page': sometimes('No shared cache keeps a page.', { const: 'no-store' }),
  'Cache-Tag': always('What the image is purged by.', text()),
  // What single caches call the same.
  'Cloudflare-CDN-Cache-Control': sometimes('For Cloudflare.', text()),
  'Surrogate-Control': sometimes('For Fastly.', text()),
  'Surrogate-Key': sometimes('For Fastly.', text()),
  'X-Accel-Expires': sometimes('For nginx.', text()),

  'Access-Control-Allow-Origin.any': always('Scripts of any site may read it.', { const: '*' }),
  'Access-Control-Allow-Origin': sometimes('For origins that the operator lists.', text()),
  'Access-Control-Allow-Methods': sometimes('For the same.', text()),
  'Access-Control-Allow-Headers': sometimes('For the same.', text()),
  'Access-Control-Expose-Headers': sometimes('For the same.', text()),
  'Access-Control-Max-Age': sometimes('For the same.', whole(1)),

  'Cross-Origin-Opener-Policy': sometimes('On pages.', { const: 'same-origin' }),
  'Permissions-Policy': sometimes('On pages.', text()),
  'X-Frame-Options': sometimes('On pages.', { const: 'DENY' }),
  'Content-Encoding': sometimes('On pages and documents, where the client takes it.', {
    enum: ['gzip', 'br'],
  }),
} satisfies Record<string, HeaderObject>

export type HeaderKey = keyof typeof HEADERS

/** On every answer. */
export const COMMON: HeaderKey[] = ['X-Content-Type-Options', 'Referrer-Policy', 'Strict-Transport-Security']

export const UNCACHED: HeaderKey[] = [...COMMON, 'Cache-Control.none', REQUEST_ID_HEADER]

/** Where `Accept` prefers a page, or the address is one. */
export const ON_PAGES: HeaderKey[] = [
  'CDN-Cache-Control.page',
  'Content-Security-Policy',
  'Cross-Origin-Opener-Policy',
  'Permissions-Policy',
  'X-Frame-Options',
  'Content-Encoding',
  'Vary',
]

/** A refusal comes as problem details or as a page. */
export const REFUSAL: HeaderKey[] = [...UNCACHED, ...ON_PAGES]

export const PAGE: HeaderKey[] = [...COMMON, 'Cache-Control.page', REQUEST_ID_HEADER, ...ON_PAGES]

/** A page with a key in it. */
export const SECRET_PAGE: HeaderKey[] = [...UNCACHED, ...ON_PAGES]

export const CORS: HeaderKey[] = [
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Expose-Headers',
  'Access-Control-Max-Age',
]

/** On refusals that an address of uploads shares with all others. */
export const MAYBE_RATE: HeaderKey[] = [
  `${RATE_LIMIT_HEADER}.sometimes`,
  `${RATE_REMAINING_HEADER}.sometimes`,
  `${RATE_POLICY_FIELD}.sometimes`,
  `${RATE_FIELD}.sometimes`,
]

export const RATE: HeaderKey[] = [RATE_LIMIT_HEADER, RATE_REMAINING_HEADER, RATE_POLICY_FIELD, RATE_FIELD]

export const IMAGE: HeaderKey[] = [
  ...COMMON,
  'Cache-Control.image',
  'ETag',
  'Repr-Digest',
  'Accept-Ranges',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
  'Access-Control-Allow-Origin.any',
  'X-Robots-Tag',
  'Content-Disposition',
  'CDN-Cache-Control.image',
  'Cache-Tag',
  'Cloudflare-CDN-Cache-Control',
  'Surrogate-Control',
  'Surrogate-Key',
  'X-Accel-Expires',
]

/** By the name of the header, as a response lists them. */
export function headers(keys: readonly HeaderKey[]): Record<string, Ref> {
  return Object.fromEntries(keys.map((key) => [key.split('.')[0]!, { $ref: `#/components/headers/${key}` }]))
}

export function headerComponents(): Record<string, HeaderObject> {
  return HEADERS
}
