/** The one table from error codes to statuses: what problem details (RFC 9457) say of each. */
import type { RefusalCode } from './errors.ts'
import { API_PAGE_PATH } from './protocol.ts'

/** Every code there is: refusals, and what only the web layer says. `openapi/codes.ts` explains each. */
export type ProblemCode =
  | RefusalCode
  | 'bad-request'
  | 'precondition-failed'
  | 'range-not-satisfiable'
  | 'headers-too-large'
  | 'internal-error'

const STATUS: Record<ProblemCode, number> = {
  'bad-request': 400,
  'bad-idempotency-key': 400,
  'missing-key': 400,
  'missing-url': 400,
  'malformed-multipart': 400,
  'missing-file': 400,
  'unexpected-field': 400,
  'blocked-image': 403,
  'cross-site': 403,
  held: 403,
  'not-found': 404,
  'unknown-key': 404,
  'method-not-allowed': 405,
  'too-slow': 408,
  removed: 410,
  'precondition-failed': 412,
  'file-too-large': 413,
  'body-too-large': 413,
  'not-multipart': 415,
  'not-a-form': 415,
  'unsupported-type': 415,
  'range-not-satisfiable': 416,
  'damaged-image': 422,
  'idempotency-key-reused': 422,
  'bad-report': 422,
  'quota-exceeded': 429,
  'too-many-reports': 429,
  'too-many-refusals': 429,
  'headers-too-large': 431,
  'internal-error': 500,
  busy: 503,
  'network-quota-exceeded': 429,
  'uploads-paused': 503,
  'capacity-reached': 503,
  'unsupported-format': 501,
  unavailable: 503,
  'storage-full': 507,
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
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

/** What passes soon: after how many seconds it is worth another try. What passes at the end of the day is not here. */
const RETRY_SECONDS: Partial<Record<ProblemCode, number>> = { busy: 5, unavailable: 5 }

export const PROBLEM_TYPE = 'application/problem+json'

export function statusOf(code: ProblemCode): number {
  return STATUS[code]
}

export function titleOf(status: number): string {
  return TITLE[status]!
}

export function retrySecondsOf(code: ProblemCode): number | undefined {
  return RETRY_SECONDS[code]
}

/** Where the code is explained, seen from the base URL. */
export function problemType(code: ProblemCode): string {
  return `${API_PAGE_PATH}#${code}`
}
