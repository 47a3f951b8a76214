import type { Problem } from '../../protocol.ts'
import { ServerRefusal } from '../errors.ts'
import { Failing } from './retry.ts'
import { type Answer, NetworkFault } from './transport.ts'

/** A wait that a person would sit through. Longer ones are told, not waited for. Unit: seconds. */
const LONGEST_WAIT_SECONDS = 60

/** Codes that come as 5xx although they are decisions, not faults: the operator's, or a full disk's. */
const DECISIONS = new Set(['uploads-paused', 'storage-full'])

/**
 * What an answer other than success means. Throws `ServerRefusal` for a no that stays, `Failing` for a trouble that
 * may pass.
 */
export function rejectAnswer(answer: Answer): never {
  const refusal = refusalOf(answer)
  const { status, retryAfterSeconds: retryAfter } = refusal
  const maySoonPass = (retryAfter ?? 0) <= LONGEST_WAIT_SECONDS
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
  return new ServerRefusal(detail, answer.status, problem, retryAfterOf(answer.header('Retry-After')))
}

/** What to say of an answer that carries no problem details. */
function strangeness({ status, header }: Answer): string {
  const location = header('Location')
  if (location !== null) return `The service has moved to ${location}. Use that address.`
  return status < 500
    ? `This address does not answer like a Pinhole service (status ${status}).`
    : `The service answered ${status}.`
}

/** The JSON object of a successful answer; anything else, e.g. a captive portal's page, counts as no answer. */
export function objectOf(answer: Answer): Record<string, unknown> {
  const value = parsed(answer.text)
  if (value === null) throw new NetworkFault('the answer is not from a Pinhole service')
  return value
}

function toProblem({ text }: Answer): Problem | null {
  const value = parsed(text)
  return typeof value?.error === 'string' && typeof value.detail === 'string' ? (value as never) : null
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}
