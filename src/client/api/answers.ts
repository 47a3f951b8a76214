import { parseJsonObject } from '../../json.ts'
import {
  DELETE_PATH,
  ID_PATTERN,
  KEY_PATTERN,
  type Problem,
  RATE_REMAINING_HEADER,
  rawPath,
  TIME_PATTERN,
  viewPath,
} from '../../protocol.ts'
import { retryAfterMs } from '../../retry-after.ts'
import { ServerRefusal } from '../errors.ts'
import type { Sent } from '../types.ts'
import { TransientFailure } from './retry.ts'
import { type Answer, NetworkFault } from './transport.ts'

/** Longest `Retry-After` that is waited for. A longer one rejects and is left to the caller. Unit: seconds. */
const MAX_WAIT_SECONDS = 60

/** Codes sent as 5xx that a retry won't fix: the operator paused uploads, or the disk is full. */
const PERSISTENT_CODES = new Set(['uploads-paused', 'storage-full'])

/**
 * Throws `TransientFailure` for an error that a retry may fix, `NetworkFault` for a success that isn't the service's, and
 * `ServerRefusal` for any other answer.
 */
export function rejectAnswer(answer: Answer): never {
  const refusal = refusalOf(answer)
  const { status, retryAfterSeconds: retryAfter } = refusal
  if (status < 300) throw new NetworkFault(refusal.detail)
  const isShortWait = (retryAfter ?? 0) <= MAX_WAIT_SECONDS
  const isTransient =
    status === 408 ||
    // A quota without a reset time, or one that lasts hours, is final.
    (status === 429 && retryAfter !== undefined) ||
    (status >= 500 && !PERSISTENT_CODES.has(refusal.code))
  throw isTransient && isShortWait ? new TransientFailure(refusal) : refusal
}

export function refusalOf(answer: Answer): ServerRefusal {
  const problem = toProblem(answer)
  const detail = problem?.detail ?? describeOther(answer)
  return new ServerRefusal(detail, answer.status, problem, retryAfterOf(answer, problem))
}

/** Explains a response without problem details: it comes from something other than the service. */
function describeOther(answer: Answer): string {
  const { status } = answer
  const location = answer.header('Location')
  if (location !== null && status >= 300 && status < 400) {
    return `This address redirects to ${location}. Use the service's own address.`
  }
  if (status === 413) {
    return 'A proxy in front of the service refuses uploads of this size (status 413). Its operator can raise that limit.'
  }
  if (status === 401) return `A proxy requires a login first (status ${status}).`
  if (status >= 500) return `The service is down or unreachable behind its proxy (status ${status}).`
  return `There is no Pinhole service at this address (status ${status}). Use the address of the upload page.`
}

/** The JSON object of a successful response. Anything else, e.g. a captive portal's page, is a `NetworkFault`. */
export function objectOf(answer: Answer): Record<string, unknown> {
  const value = parseJsonObject(answer.text)
  if (value !== null) return value
  throw new NetworkFault(
    /^\s*</.test(answer.text)
      ? 'the response is a web page, not from a Pinhole service (a network login page, or a wrong address)'
      : 'the response is not from a Pinhole service',
  )
}

function toProblem({ text }: Answer): Problem | null {
  const value = parseJsonObject(text)
  return typeof value?.error === 'string' && typeof value.detail === 'string'
    ? (value as unknown as Problem)
    : null
}

/** From the header, else from the problem details. Unit: seconds. */
function retryAfterOf(answer: Answer, problem: Problem | null): number | undefined {
  const ms = retryAfterMs(answer.header('Retry-After'))
  if (ms !== undefined) return Math.ceil(ms / 1000)
  const seconds: unknown = problem?.retryAfter
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds) : undefined
}

/** Validates the response to an upload. The service is untrusted, so every member is checked. */
export function sentOf(answer: Answer): Sent {
  const { id, link, key, delete: deleteLink, expires } = objectOf(answer)
  if (!isText(id) || !ID_PATTERN.test(id)) throw unexpected('id')
  if (!isAddress(link) || !link.endsWith(viewPath(id))) throw unexpected('link')
  if (!isText(key) || !KEY_PATTERN.test(key)) throw unexpected('key')
  if (!isAddress(deleteLink) || !deleteLink.endsWith(`${DELETE_PATH}?key=${key}`)) throw unexpected('delete')
  if (expires !== undefined && !isTime(expires)) throw unexpected('expires')
  const remaining = answer.header(RATE_REMAINING_HEADER)
  return {
    id,
    link,
    key,
    delete: deleteLink,
    ...(expires !== undefined && { expires }),
    raw: link.slice(0, -viewPath(id).length) + rawPath(id),
    ...(remaining !== null && /^\d{1,9}$/.test(remaining) ? { remaining: Number(remaining) } : {}),
  }
}

/** RFC 3339, in UTC. */
function isTime(value: unknown): value is string {
  return isText(value) && TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** An http(s) URL without spaces, control characters or anything else that a terminal or shell would interpret. */
function isAddress(value: unknown): value is string {
  return isText(value) && /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(value) && URL.canParse(value)
}

function unexpected(member: string): NetworkFault {
  return new NetworkFault(`the response has an invalid "${member}", so it is not from a Pinhole service`)
}
