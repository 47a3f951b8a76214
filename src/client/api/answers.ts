import { jsonObject } from '../../json.ts'
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
import { Failing } from './retry.ts'
import { type Answer, NetworkFault } from './transport.ts'

/** A wait that a person would sit through. Longer ones are told, not waited for. Unit: seconds. */
const MAX_WAIT_SECONDS = 60

/** Codes that come as 5xx although they are decisions, not faults: the operator's, or a full disk's. */
const DECISIONS = new Set(['uploads-paused', 'storage-full'])

/**
 * What an answer other than success means. Throws `ServerRefusal` for a no that stays, `Failing` for a trouble that
 * may pass.
 */
export function rejectAnswer(answer: Answer): never {
  const refusal = refusalOf(answer)
  const { status, retryAfterSeconds: retryAfter } = refusal
  const maySoonPass = (retryAfter ?? 0) <= MAX_WAIT_SECONDS
  const passes =
    status === 408 ||
    // A quota without a time, or one that lasts hours, is a no.
    (status === 429 && retryAfter !== undefined) ||
    (status >= 500 && !DECISIONS.has(refusal.code))
  throw passes && maySoonPass ? new Failing(refusal) : refusal
}

export function refusalOf(answer: Answer): ServerRefusal {
  const problem = toProblem(answer)
  const detail = problem?.detail ?? strangeness(answer)
  return new ServerRefusal(detail, answer.status, problem, retryAfterOf(answer, problem))
}

/** What to say of an answer that carries no problem details: it comes from something else than the service. */
function strangeness(answer: Answer): string {
  const { status } = answer
  const location = answer.header('Location')
  if (location !== null && status >= 300 && status < 400) {
    return `This address leads on to ${location}. Use the service's own address.`
  }
  if (status === 413) {
    return 'A proxy before the service refuses uploads of this size (status 413). Its operator can raise that limit.'
  }
  if (status === 401) return `A proxy wants a login first (status ${status}).`
  if (status >= 500) return `The service is not there behind its proxy, or fails (status ${status}).`
  return `No Pinhole service answers at this address (status ${status}). Check it: it is the address of the upload page.`
}

/** The JSON object of a successful answer; anything else, e.g. a captive portal's page, counts as no answer. */
export function objectOf(answer: Answer): Record<string, unknown> {
  const value = jsonObject(answer.text)
  if (value !== null) return value
  const isPage = /^text\/html/i.test(answer.header('Content-Type') ?? '') || /^\s*</.test(answer.text)
  throw new NetworkFault(
    isPage
      ? 'a web page answered instead of a Pinhole service (a login page of the network, or a wrong address)'
      : 'the answer is not from a Pinhole service',
  )
}

function toProblem({ text }: Answer): Problem | null {
  const value = jsonObject(text)
  return typeof value?.error === 'string' && typeof value.detail === 'string'
    ? (value as unknown as Problem)
    : null
}

/** As the header says, or the problem details. Unit: seconds. */
function retryAfterOf(answer: Answer, problem: Problem | null): number | undefined {
  const ms = retryAfterMs(answer.header('Retry-After'))
  if (ms !== undefined) return Math.ceil(ms / 1000)
  const told: unknown = problem?.retryAfter
  return typeof told === 'number' && told >= 0 ? Math.ceil(told) : undefined
}

/** The answer to an upload, from a service that need not be an honest one: every member is of its shape. */
export function sentOf(answer: Answer): Sent {
  const { id, link, key, delete: deleteLink, expires } = objectOf(answer)
  if (!isText(id) || !ID_PATTERN.test(id)) throw strange('id')
  if (!isAddress(link) || !link.endsWith(viewPath(id))) throw strange('link')
  if (!isText(key) || !KEY_PATTERN.test(key)) throw strange('key')
  if (!isAddress(deleteLink) || !deleteLink.endsWith(`${DELETE_PATH}?key=${key}`)) throw strange('delete')
  if (expires !== undefined && !isTime(expires)) throw strange('expires')
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

/** Spelled as URLs are: no spaces, no control characters, nothing that a terminal or a shell would act upon. */
function isAddress(value: unknown): value is string {
  return isText(value) && /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(value) && URL.canParse(value)
}

function strange(member: string): NetworkFault {
  return new NetworkFault(`the answer's "${member}" is not what a Pinhole service sends`)
}
