/** The wire: what server, page, SDK and CLI agree on. It names no runtime and imports nothing. */

/** Uploads that one client address may make in one UTC day. */
export const DEFAULT_UPLOADS_PER_DAY = 100

/** "25 MB", counted on the file part alone. Unit: bytes. */
export const DEFAULT_MAX_UPLOAD_BYTES = 26_214_400

/** The largest side that is accepted. Unit: pixels. */
export const MAX_SIDE_PIXELS = 65_535

/** The largest frame that is accepted (268 MP: a 200 MP phone picture passes). Unit: pixels. */
export const MAX_FRAME_PIXELS = 2 ** 28

/** How long a browser may keep an image. Unit: seconds. */
export const RAW_MAX_AGE_SECONDS = 31_536_000

/** How long a cache that the operator can purge may keep an image (RFC 9213). Unit: seconds. */
export const CDN_MAX_AGE_SECONDS = 3600

/** Media types that are accepted, with the extension that each one's files carry. */
export const EXTENSIONS = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
} as const

export type ImageType = keyof typeof EXTENSIONS

const SPELLED: Record<string, string> = { 'image/webp': 'WebP', 'image/jxl': 'JPEG XL' }

/** What people call a type of image, e.g. `PNG`. */
export function typeName(type: `image/${string}`): string {
  return SPELLED[type] ?? type.slice('image/'.length).toUpperCase()
}

/** Types of a preview: what every browser and every unfurler shows. */
export const PREVIEW_TYPES = ['image/jpeg', 'image/webp'] as const
export type PreviewType = (typeof PREVIEW_TYPES)[number]

/** A smaller file is its own preview. 120 KiB. Unit: bytes. */
export const PREVIEW_MAX_BYTES = 122_880

/** The longest side of a preview: what unfurlers show at twice the density. Unit: pixels. */
export const PREVIEW_MAX_SIDE_PIXELS = 1200

/** What stands before a preview behind its image, and after it: see `formats/preview-frame.ts`. Unit: bytes. */
export const FRAME_HEAD_BYTES = 8
export const FRAME_FOOT_BYTES = 12

export const IMAGE_TYPES = Object.keys(EXTENSIONS) as ImageType[]

/** 11 characters of base62: 65 random bits. */
export const ID_LENGTH = 11
export const ID_PATTERN = /^[0-9A-Za-z]{11}$/

/** The id, then 32 random characters of the same alphabet. */
export const KEY_PATTERN = /^[0-9A-Za-z]{43}$/

export const UPLOAD_PATH = '/api/upload'
export const DELETE_PATH = '/api/delete'
export const REPORT_PATH = '/api/report'
/** The form for people. */
export const REPORT_PAGE_PATH = '/report'
/** The challenge that the next upload of an address needs, or one for a pass: `?for=pass`. */
export const CHALLENGE_PATH = '/api/challenge'
/** Gives a pass for a solved challenge. */
export const PASS_PATH = '/api/pass'
/** The page that solves it for people. */
export const PASS_PAGE_PATH = '/pass'
export const UPLOAD_FIELD = 'file'
/** A time in whole seconds, UTC (RFC 3339). */
export const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
/** Parameter of an upload: see `lifetimes.ts`. */
export const EXPIRES_PARAMETER = 'expires'

/** The API as a document (OpenAPI), and as a page that explains every error code under an anchor of its name. */
export const API_DOCUMENT_PATH = '/openapi.json'
export const API_PAGE_PATH = '/api'
/** Where programs look for the two (RFC 9727). */
export const API_CATALOG_PATH = '/.well-known/api-catalog'
/** How to upload from elsewhere, and what tools fetch to be set up for it. */
export const TOOLS_PATH = '/tools'
/** For sites that embed links (https://oembed.com). */
export const OEMBED_PATH = '/oembed'
export const ROBOTS_PATH = '/robots.txt'
export const SHAREX_PATH = '/sharex.sxcu'
export const SCRIPT_PATH = '/upload.sh'
export const AGENTS_PATH = '/llms.txt'

/**
 * Names an upload, so that a repeat of it stores nothing twice: at least 128 random bits, in visible characters. It is
 * a secret: with it and the image anybody can ask for the deletion key again.
 */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key'
export const IDEMPOTENCY_PATTERN = /^[\x21-\x7e]{22,255}$/

/** `<token>:<answer>,<answer>…`: the solution of a challenge, which is accepted once. A pass comes as `Authorization: Bearer`. */
export const SOLUTION_HEADER = 'Challenge-Solution'
export const PASS_PATTERN = /^pass\.[0-9a-f]{32}\.\d{10,11}\.[0-9a-f]{32}$/

/** Uploads of an address and day that no challenge is asked for. */
export const UNCHALLENGED_UPLOADS = 5

/** What a pass is good for. */
export const PASS_UPLOADS = 100

/** How long a client repeats an upload: see `docs/decisions/056`. Unit: seconds. */
export const REPEAT_SECONDS = 60

export function viewPath(id: string): string {
  return `/${id}`
}

/** `secret`: the receipt of a report. */
export function receiptPath(secret: string): string {
  return `/receipt/${secret}`
}

export function rawPath(id: string): string {
  return `/raw/${id}`
}

/** A smaller picture of the image; a redirect to the image where there is none. */
export function previewPath(id: string): string {
  return `/preview/${id}`
}

/** The answer to an upload. */
export interface UploadAnswer {
  id: string
  /** Address of the viewer page. */
  link: string
  /** The only credential that deletes the image. */
  key: string
  /** Ready deletion address: a page that asks on GET, the deletion itself on DELETE. */
  delete: string
  /** When the image expires, if it does (RFC 3339, UTC, whole seconds). */
  expires?: string
}

export interface DeleteAnswer {
  success: boolean
}

/**
 * Proof of work that is to be done before an upload: for each `n` from 0 to `answers - 1` a whole number `c` below 2^32, so
 * that PBKDF2-HMAC-SHA-256 of the password `token` and the salt `n.c` (in ASCII, decimal), of so many iterations, begins with
 * so many zero bits.
 */
export interface Challenge {
  token: string
  algorithm: 'PBKDF2-SHA-256'
  iterations: number
  bits: number
  answers: number
  /** RFC 3339, UTC, whole seconds. */
  expires: string
}

/** The answer to a solved challenge for a pass. */
export interface PassAnswer {
  pass: string
  uploads: number
  /** RFC 3339, UTC, whole seconds. */
  expires: string
}

/** Problem details (RFC 9457), plus `error`: a stable machine code. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  error: string
  /** When it is worth another try, where that is known. Unit: seconds. */
  retryAfter?: number
  /** What to solve. With `challenge-required` only. */
  challenge?: Challenge
  /** Present on answers of the delete endpoint only. */
  success?: false
}

export const RATE_LIMIT_HEADER = 'X-RateLimit-Limit'
export const RATE_REMAINING_HEADER = 'X-RateLimit-Remaining'
/** The same as structured fields (draft-ietf-httpapi-ratelimit-headers). */
export const RATE_POLICY_FIELD = 'RateLimit-Policy'
export const RATE_FIELD = 'RateLimit'
export const RATE_WINDOW_SECONDS = 86_400
export const REQUEST_ID_HEADER = 'X-Request-Id'
