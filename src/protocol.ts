/** The wire protocol shared by server, page, SDK and CLI. Runtime-independent, and imports nothing. */

/** Default quota: uploads per client address and UTC day. */
export const DEFAULT_UPLOADS_PER_DAY = 100

/** "25 MB", applied to the file part only. Unit: bytes. */
export const DEFAULT_MAX_UPLOAD_BYTES = 26_214_400

/** Maximum width and height of an image. Unit: pixels. */
export const MAX_SIDE_PIXELS = 65_535

/** Maximum frame area (268 MP: enough for a 200 MP phone photo). Unit: pixels. */
export const MAX_FRAME_PIXELS = 2 ** 28

/** Browser cache lifetime of an image. Unit: seconds. */
export const RAW_MAX_AGE_SECONDS = 31_536_000

/** Lifetime of an image in caches that the operator can purge (RFC 9213). Unit: seconds. */
export const CDN_MAX_AGE_SECONDS = 3600

/** Accepted media types and their file extensions. */
export const EXTENSIONS = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
} as const

export type ImageType = keyof typeof EXTENSIONS

const SPELLING: Record<string, string> = { 'image/webp': 'WebP', 'image/jxl': 'JPEG XL' }

/** Display name of an image type, e.g. `PNG`. */
export function typeName(type: `image/${string}`): string {
  return SPELLING[type] ?? type.slice('image/'.length).toUpperCase()
}

/** Preview types: those that every browser and every unfurler supports. */
export const PREVIEW_TYPES = ['image/jpeg', 'image/webp'] as const
export type PreviewType = (typeof PREVIEW_TYPES)[number]

/** Maximum size of a preview (120 KiB). A file no larger than this needs none. Unit: bytes. */
export const PREVIEW_MAX_BYTES = 122_880

/** Maximum side of a preview: what unfurlers show, at twice the pixel density. Unit: pixels. */
export const PREVIEW_MAX_SIDE_PIXELS = 1200

/** Header and footer around a preview that is appended to its image: see `formats/preview-frame.ts`. Unit: bytes. */
export const FRAME_HEAD_BYTES = 8
export const FRAME_FOOT_BYTES = 12

export const IMAGE_TYPES = /* @__PURE__ */ Object.keys(EXTENSIONS) as ImageType[]

/** 11 characters of base62: 65 random bits. */
export const ID_LENGTH = 11
export const ID_PATTERN = /^[0-9A-Za-z]{11}$/

/** The ID followed by 32 random characters of the same alphabet. */
export const KEY_PATTERN = /^[0-9A-Za-z]{43}$/

export const UPLOAD_PATH = '/api/upload'
export const DELETE_PATH = '/api/delete'
export const REPORT_PATH = '/api/report'
/** The HTML report form. */
export const REPORT_PAGE_PATH = '/report'
/** Returns the challenge for the next upload of an address or, with `?for=pass`, for a pass. */
export const CHALLENGE_PATH = '/api/challenge'
/** Issues a pass for a solved challenge. */
export const PASS_PATH = '/api/pass'
/** The page that solves a challenge in the browser. */
export const PASS_PAGE_PATH = '/pass'
export const UPLOAD_FIELD = 'file'
/** A UTC time in whole seconds (RFC 3339). */
export const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
/** Upload parameter: see `lifetimes.ts`. */
export const EXPIRES_PARAMETER = 'expires'

/** The API reference as OpenAPI, and as a page with an anchor for every error code. */
export const API_DOCUMENT_PATH = '/openapi.json'
export const API_PAGE_PATH = '/api'
/** Where programs discover the API reference (RFC 9727). */
export const API_CATALOG_PATH = '/.well-known/api-catalog'
/** Instructions for uploading with other tools, followed by the files that those tools fetch. */
export const TOOLS_PATH = '/tools'
/** For sites that embed links (https://oembed.com). */
export const OEMBED_PATH = '/oembed'
export const ROBOTS_PATH = '/robots.txt'
export const SHAREX_PATH = '/sharex.sxcu'
export const SCRIPT_PATH = '/upload.sh'
export const AGENTS_PATH = '/llms.txt'

/**
 * Makes an upload idempotent, so that a retry does not store the image twice: at least 128 random bits, in visible ASCII
 * characters. A secret: anyone who has both the key and the image can obtain the deletion key.
 */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key'
export const IDEMPOTENCY_PATTERN = /^[\x21-\x7e]{22,255}$/

/** A challenge solution, `<token>:<answer>,<answer>…`, valid once. A pass is sent as `Authorization: Bearer` instead. */
export const SOLUTION_HEADER = 'Challenge-Solution'
export const PASS_PATTERN = /^pass\.[0-9a-f]{32}\.\d{10,11}\.[0-9a-f]{32}$/

/** Uploads per address and day that need no challenge. */
export const UNCHALLENGED_UPLOADS = 5

/** Uploads that a pass is valid for. */
export const PASS_UPLOADS = 100

/** How long a client retries an upload: see `docs/decisions/056`. Unit: seconds. */
export const REPEAT_SECONDS = 60

export function viewPath(id: string): string {
  return `/${id}`
}

/** `secret`: identifies the receipt of a report. */
export function receiptPath(secret: string): string {
  return `/receipt/${secret}`
}

export function rawPath(id: string): string {
  return `/raw/${id}`
}

/** Preview of an image; redirects to the image when it has none. */
export function previewPath(id: string): string {
  return `/preview/${id}`
}

/** All paths of an image and its preview that may be cached: five, or thirteen if the extension is unknown. */
export function imagePaths(id: string, extension?: string): string[] {
  const extensions = extension === undefined ? Object.values(EXTENSIONS) : [extension]
  const raw = [rawPath(id), ...extensions.map((each) => `${rawPath(id)}.${each}`)]
  return [...raw.flatMap((path) => [path, `${path}?dl=1`]), previewPath(id)]
}

/** Response to an upload. */
export interface UploadAnswer {
  id: string
  /** URL of the viewer page. */
  link: string
  /** Deletion key: the only credential that can delete the image. */
  key: string
  /** Deletion URL: a confirmation page on GET, the deletion itself on DELETE. */
  delete: string
  /** When the image expires, if it does (RFC 3339, UTC, whole seconds). */
  expires?: string
}

export interface DeleteAnswer {
  success: boolean
}

/**
 * Proof of work required before an upload. For each `n` from 0 to `answers - 1`, find an integer `c` below 2^32 such that
 * PBKDF2-HMAC-SHA-256 with password `token`, salt `n.c` (ASCII, decimal) and `iterations` iterations begins with `bits`
 * zero bits.
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

/** Response to a solved challenge for a pass. */
export interface PassAnswer {
  pass: string
  uploads: number
  /** RFC 3339, UTC, whole seconds. */
  expires: string
}

/** Problem details (RFC 9457) with a stable machine-readable code in `error`. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  error: string
  /** When to retry, if known. Unit: seconds from now. */
  retryAfter?: number
  /** The challenge to solve. Only with `challenge-required`. */
  challenge?: Challenge
  /** Only in responses of the delete endpoint. */
  success?: false
}

export const RATE_LIMIT_HEADER = 'X-RateLimit-Limit'
export const RATE_REMAINING_HEADER = 'X-RateLimit-Remaining'
/** The rate limit as structured fields (draft-ietf-httpapi-ratelimit-headers). */
export const RATE_POLICY_FIELD = 'RateLimit-Policy'
export const RATE_FIELD = 'RateLimit'
export const RATE_WINDOW_SECONDS = 86_400
export const REQUEST_ID_HEADER = 'X-Request-Id'
