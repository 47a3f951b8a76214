/** Every error code: its status, what problem details (RFC 9457) say of it, and what a client does about it. */
import type { RefusalCode } from './errors.ts'
import { API_PAGE_PATH } from './protocol.ts'

/** Refusals, and what only the web layer says. */
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
  /** One sentence: the condition. */
  when: string
  /** One sentence: what a client does now. */
  remedy: string
  /** For conditions that pass soon: seconds until a retry makes sense. Absent where the wait lasts until the day ends. */
  retryAfter?: number
}

export const PROBLEMS: Record<ProblemCode, ProblemFacts> = {
  'malformed-multipart': {
    status: 400,
    when: 'The body is not well-formed multipart/form-data, or it was cut off.',
    remedy: 'Let a library build the form; send it again if the connection broke.',
  },
  'missing-file': {
    status: 400,
    when: 'The form has no part named file, or that part is empty.',
    remedy: 'Send the image as a part named file.',
  },
  'unexpected-field': {
    status: 400,
    when: 'The form has something besides the one part named file.',
    remedy: 'Send one image a request, and no other fields.',
  },
  'not-multipart': {
    status: 415,
    when: 'The body is not multipart/form-data.',
    remedy: 'Send a form, not the bare bytes.',
  },
  'file-too-large': {
    status: 413,
    when: 'The file is larger than this service takes.',
    remedy: 'Make the image smaller.',
  },
  'unsupported-type': {
    status: 415,
    when: 'The bytes are not a JPEG, PNG, GIF, WebP or AVIF image.',
    remedy: 'Convert the image. File names and declared types are ignored.',
  },
  'damaged-image': {
    status: 422,
    when: 'The type is right, but the file is cut off, contradicts itself, has no pixels, or far too many.',
    remedy: 'Save the image anew from the program that made it.',
  },
  'blocked-image': {
    status: 403,
    when: 'The operator removed this very image before, and blocked it.',
    remedy: 'Do not send it again.',
  },
  'capacity-reached': {
    status: 503,
    when: 'The whole server stored as many uploads, or bytes, as the operator lets it store in one day.',
    remedy: 'Try again after as many seconds as the member retryAfter says.',
  },
  'network-quota-exceeded': {
    status: 429,
    when: 'The network of this address (/24, or /48 of IPv6) made all its uploads of today.',
    remedy: 'Try again after the time in Retry-After.',
  },
  'cross-site': {
    status: 403,
    when: 'A page of another site asked a browser for this, and the operator did not allow that site.',
    remedy: 'Call from a server, or ask the operator to list your origin.',
  },
  'challenge-required': {
    status: 403,
    when: 'The operator turned challenges on, and this address made its first five uploads of the day without one.',
    remedy:
      'Solve what the member challenge says and send it again with Challenge-Solution, or with a pass: <base URL>/pass gives them.',
  },
  'quota-exceeded': {
    status: 429,
    when: 'The address has stored as many images as it may in one UTC day.',
    remedy: 'Wait as long as Retry-After says.',
  },
  'too-many-refusals': {
    status: 429,
    when: 'Too many uploads of the address were refused in this UTC day, or too many bytes of them.',
    remedy: 'Wait as long as Retry-After says, and look at why they were refused.',
  },
  busy: {
    status: 503,
    when: 'The upload waited too long for its turn, or too many others wait already.',
    remedy: 'Send it again after as many seconds as the member retryAfter says.',
    retryAfter: 5,
  },
  'not-a-form': {
    status: 415,
    when: 'The body is not a form as browsers send it.',
    remedy: 'Send application/x-www-form-urlencoded.',
  },
  'body-too-large': {
    status: 413,
    when: 'The body is larger than this address reads.',
    remedy: 'Send the fields that are asked for, and no others.',
  },
  'bad-idempotency-key': {
    status: 400,
    when: 'Idempotency-Key is not 22 to 255 visible characters.',
    remedy: 'Generate at least 128 random bits for each image.',
  },
  'bad-expires': {
    status: 400,
    when: 'The parameter expires is not 1h, 1d, 7d, 30d or whole seconds from 60 to 31536000.',
    remedy: 'Send one of these, once; or leave it out.',
  },
  'idempotency-key-reused': {
    status: 422,
    when: 'Another image was sent under this Idempotency-Key before, or its image was deleted or expired.',
    remedy: 'Generate a new one for each image, and for one that is to be stored again.',
  },
  'uploads-paused': {
    status: 503,
    when: 'The operator paused uploads.',
    remedy: 'Try again later.',
  },
  'storage-full': {
    status: 507,
    when: 'The storage of the service is full.',
    remedy: 'Try again later.',
  },
  unavailable: {
    status: 503,
    when: 'The store or the ledger behind the service does not answer.',
    remedy: 'Try again in a while.',
    retryAfter: 5,
  },
  'bad-report': {
    status: 422,
    when: 'Something is missing from the report, or is not as it should be.',
    remedy: 'The detail says what.',
  },
  'too-many-reports': {
    status: 429,
    when: 'The address made as many reports of this kind as are taken in one UTC day, or too many of images that are not here.',
    remedy: 'Wait as long as Retry-After says, or write to the operator.',
  },
  'too-slow': {
    status: 408,
    when: 'The request came too slowly and was given up.',
    remedy: 'Send it again, over a better connection.',
  },
  'missing-key': {
    status: 400,
    when: 'The request names no deletion key.',
    remedy: 'Add the key that the upload returned.',
  },
  'missing-url': {
    status: 400,
    when: 'The request names no page of an image.',
    remedy: 'Add url: the address of the page, percent-encoded.',
  },
  'unsupported-format': {
    status: 501,
    when: 'A format other than JSON was asked for.',
    remedy: 'Ask for format=json, or for none.',
  },
  'unknown-key': {
    status: 404,
    when: 'No image has this deletion key. It may have been deleted already.',
    remedy: 'Nothing: the image is not there.',
  },
  'not-found': {
    status: 404,
    when: 'There is nothing at this address. An image may have been deleted.',
    remedy: 'Check the address: it is read letter by letter.',
  },
  removed: {
    status: 410,
    when: 'The operator removed the image.',
    remedy: 'Nothing: it does not come back.',
  },
  held: {
    status: 403,
    when: 'The operator is checking the image, or one of the same bytes.',
    remedy: 'Come back later: it is there again, or removed for good.',
  },
  'method-not-allowed': {
    status: 405,
    when: 'The address does not take this method.',
    remedy: 'Use one that Allow lists.',
  },
  'precondition-failed': {
    status: 412,
    when: 'If-Match names a representation other than the current one.',
    remedy: 'Fetch the image without a condition.',
  },
  'range-not-satisfiable': {
    status: 416,
    when: 'The range begins beyond the end of the image.',
    remedy: 'Content-Range has the size; ask within it.',
  },
  'bad-request': {
    status: 400,
    when: 'This is not an HTTP request that the server can read.',
    remedy: 'Correct the client.',
  },
  'expectation-failed': {
    status: 417,
    when: 'The request expects more than 100-continue.',
    remedy: 'Correct the client.',
  },
  'headers-too-large': {
    status: 431,
    when: 'The headers of the request are too large.',
    remedy: 'Send less: the service needs no cookies.',
  },
  'internal-error': {
    status: 500,
    when: 'Something went wrong on the server.',
    remedy: 'Tell the operator the request id of the answer.',
  },
}

/** Reason phrases (RFC 9110, RFC 6585, RFC 4918): the titles of problems. */
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

/** Where the code is explained, seen from the base URL. */
export function problemType(code: ProblemCode): string {
  return `${API_PAGE_PATH}#${code}`
}
