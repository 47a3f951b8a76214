/** Every error code with its status, meaning and remedy, for problem details (RFC 9457) and the API reference. */
import type { RefusalCode } from './errors.ts'
import { ACCEPTED_LIFETIMES } from './lifetimes.ts'
import { API_PAGE_PATH, UNCHALLENGED_UPLOADS } from './protocol.ts'

/** Refusal codes, plus the codes that only the web layer uses. */
export type ProblemCode =
  | RefusalCode
  | 'bad-request'
  | 'precondition-failed'
  | 'range-not-satisfiable'
  | 'expectation-failed'
  | 'headers-too-large'
  | 'internal-error'

interface ProblemFacts {
  status: number
  /** The condition, in one or two sentences. */
  when: string
  /** What the client should do, in one or two sentences. */
  remedy: string
  /** When to retry after a short-lived condition. Absent where the wait lasts until the end of the day. Unit: seconds. */
  retryAfter?: number
}

export const PROBLEMS: Record<ProblemCode, ProblemFacts> = {
  'malformed-multipart': {
    status: 400,
    when: 'The request body is not well-formed multipart/form-data, was cut off, or does not match its Content-Digest.',
    remedy: 'Use an HTTP library to build the form. If the connection was lost, retry the upload.',
  },
  'missing-file': {
    status: 400,
    when: 'The form has no part named file, or that part is empty.',
    remedy: 'Send the image in a form part named file.',
  },
  'unexpected-field': {
    status: 400,
    when: 'The form contains something other than a single part named file.',
    remedy: 'Send one image per request, and no other fields.',
  },
  'not-multipart': {
    status: 415,
    when: 'The request body is not multipart/form-data.',
    remedy: 'Send the image in a multipart form, not as the raw request body.',
  },
  'file-too-large': {
    status: 413,
    when: 'The file exceeds the size limit of this server.',
    remedy: 'Resize or compress the image.',
  },
  'unsupported-type': {
    status: 415,
    when: 'The file is not a JPEG, PNG, GIF, WebP or AVIF image.',
    remedy: 'Convert the image to a supported format. The file name and the declared type are ignored.',
  },
  'damaged-image': {
    status: 422,
    when: 'The format is supported, but the file is truncated or inconsistent, or has no pixels or far too many.',
    remedy: 'Export the image again from the program that created it.',
  },
  'blocked-image': {
    status: 403,
    when: 'The operator blocked this exact image from being uploaded, or the automatic check of this server rejected it.',
    remedy: 'Do not retry.',
  },
  'capacity-reached': {
    status: 503,
    when: 'The server has reached the daily limit that its operator set for the number or total size of all uploads.',
    remedy: 'Retry after the number of seconds in retryAfter.',
  },
  'network-quota-exceeded': {
    status: 429,
    when: 'The network of this address (the /24, or /48 for IPv6) has used up its uploads for today.',
    remedy: 'Retry after the number of seconds in Retry-After.',
  },
  'cross-site': {
    status: 403,
    when: 'A page on another site made the browser send this request, and the operator has not allowed that site.',
    remedy: 'Call the API from a server, or ask the operator to allow your origin.',
  },
  'challenge-required': {
    status: 403,
    when: `The operator has enabled challenges, this address has used its ${UNCHALLENGED_UPLOADS} uploads per day that need none, and the request has no valid solution or pass.`,
    remedy:
      'Solve the challenge in the challenge field and retry with a Challenge-Solution header, or with a pass from <base URL>/pass.',
  },
  'quota-exceeded': {
    status: 429,
    when: 'This address has reached its upload quota for the current UTC day.',
    remedy: 'Retry after the number of seconds in Retry-After.',
  },
  'too-many-refusals': {
    status: 429,
    when: 'Too many uploads from this address, or too many bytes, were refused during the current UTC day.',
    remedy: 'Check why the uploads were refused, and retry after the number of seconds in Retry-After.',
  },
  busy: {
    status: 503,
    when: 'The upload waited too long in the queue, or the queue is full.',
    remedy: 'Retry after the number of seconds in retryAfter.',
    retryAfter: 5,
  },
  'not-a-form': {
    status: 415,
    when: 'The request body is not a URL-encoded form.',
    remedy: 'Send the form as application/x-www-form-urlencoded.',
  },
  'body-too-large': {
    status: 413,
    when: 'The request body exceeds the limit of this endpoint.',
    remedy: 'Send only the documented fields.',
  },
  'bad-idempotency-key': {
    status: 400,
    when: 'The Idempotency-Key header is not 22 to 255 visible ASCII characters.',
    remedy: 'Generate a key with at least 128 random bits for each image.',
  },
  'bad-expires': {
    status: 400,
    when: `The expires parameter is not ${ACCEPTED_LIFETIMES}.`,
    remedy: 'Send one of these values once, or omit the parameter.',
  },
  'idempotency-key-reused': {
    status: 422,
    when: 'This Idempotency-Key was already used for another image, or for an image that was deleted or has expired.',
    remedy: 'Generate a new key for each image, and also to store a deleted or expired image again.',
  },
  'uploads-paused': {
    status: 503,
    when: 'The operator has paused uploads.',
    remedy: 'Try again later.',
  },
  'storage-full': {
    status: 507,
    when: 'The storage of this server is full.',
    remedy: 'Try again later.',
  },
  unavailable: {
    status: 503,
    when: 'Something that this server needs is not available: the image store, the database, the scanner or a correct clock.',
    remedy: 'Retry after the number of seconds in retryAfter.',
    retryAfter: 5,
  },
  'bad-report': {
    status: 422,
    when: 'A field of the report is missing or invalid.',
    remedy: 'Correct the field that the detail member names.',
  },
  'too-many-reports': {
    status: 429,
    when: 'This address has reached its daily (UTC) limit for reports of this kind, or has reported too many images that do not exist.',
    remedy: 'Retry after the number of seconds in Retry-After, or contact the operator.',
  },
  'too-slow': {
    status: 408,
    when: 'The request arrived too slowly, so the server stopped reading it.',
    remedy: 'Retry on a faster connection.',
  },
  'missing-key': {
    status: 400,
    when: 'The request has no deletion key.',
    remedy: 'Add the key that the upload returned.',
  },
  'missing-url': {
    status: 400,
    when: 'The request has no url parameter.',
    remedy: 'Add url with the percent-encoded URL of an image page.',
  },
  'unsupported-format': {
    status: 501,
    when: 'The requested format is not JSON.',
    remedy: 'Use format=json, or omit the parameter.',
  },
  'unknown-key': {
    status: 404,
    when: 'No image has this deletion key. It may already have been deleted.',
    remedy: 'No action is needed: there is no image to delete.',
  },
  'not-found': {
    status: 404,
    when: 'There is nothing at this URL. If it was an image, the image may have been deleted.',
    remedy: 'Check the URL. It is case-sensitive.',
  },
  removed: {
    status: 410,
    when: 'The operator removed the image.',
    remedy: 'Do not retry: the image will not come back.',
  },
  held: {
    status: 403,
    when: 'The image, or another image with identical bytes, is being reviewed by the operator or checked automatically.',
    remedy: 'Check back later: the image will be either shown again or removed permanently.',
  },
  'method-not-allowed': {
    status: 405,
    when: 'This endpoint does not support the request method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  'precondition-failed': {
    status: 412,
    when: 'The If-Match header does not match the current ETag.',
    remedy: 'Fetch the image without the condition.',
  },
  'range-not-satisfiable': {
    status: 416,
    when: 'The requested range starts beyond the end of the image.',
    remedy: 'Request a range within the size given in Content-Range.',
  },
  'bad-request': {
    status: 400,
    when: 'The server cannot parse the HTTP request.',
    remedy: 'Fix the client.',
  },
  'expectation-failed': {
    status: 417,
    when: 'The Expect header contains something other than 100-continue.',
    remedy: 'Remove the Expect header, or send 100-continue.',
  },
  'headers-too-large': {
    status: 431,
    when: 'The request headers are too large.',
    remedy: 'Send fewer or smaller headers. The public API uses no cookies.',
  },
  'internal-error': {
    status: 500,
    when: 'Something went wrong on the server.',
    remedy: 'Report the X-Request-Id of the response to the operator.',
  },
}

/** Reason phrases (RFC 9110, RFC 6585, RFC 4918), used as problem titles. */
const TITLE: Record<number, string> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

export const PROBLEM_TYPE = 'application/problem+json'

export function titleOf(status: number): string {
  return TITLE[status]!
}

/** Path of the code's entry in the API reference, relative to the base URL. */
export function problemType(code: ProblemCode): string {
  return `${API_PAGE_PATH}#${code}`
}
