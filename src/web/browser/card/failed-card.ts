/** Card of an upload that failed, or that waits for an unreachable service. */
import { words } from '../upload/facts.ts'
import type { Outlook, State } from '../upload/queue.ts'
import { isTransient } from '../upload/reasons.ts'
import { nextPollAt } from '../upload/reconnect.ts'
import type { Action, CardView } from './card.ts'
import { codeOf, retryCountdown } from './upload-card.ts'

/** Refusals caused by the file itself: retrying the same file fails the same way. */
const PERMANENT = new Set(['unsupported-type', 'damaged-image', 'blocked-image', 'file-too-large'])

/** Operator decisions about these bytes: a later upload would be refused again. */
const MODERATED = new Set(['held', 'removed'])

type Failed = Extract<State, { at: 'failed' }>

export function outlookOf(error: unknown): Outlook | undefined {
  if (isTransient(error)) return 'transient'
  return PERMANENT.has(codeOf(error)) ? 'permanent' : undefined
}

/** True if the file must not be offered again on a later visit. */
export function isRejected({ error, outlook }: Failed): boolean {
  return outlook === 'permanent' || MODERATED.has(codeOf(error))
}

export function viewOfFailed({ error, outlook }: Failed, reason: string): CardView {
  const actions: Action[] = outlook === 'permanent' ? ['dismiss'] : ['retry', 'edit', 'dismiss']
  // Cropping may bring the file below the limit.
  if (codeOf(error) === 'file-too-large') actions.unshift('edit')
  return { state: 'failed', status: reason, actions }
}

/** Retried automatically, so the card doesn't present it as a failure. */
export function viewOfResuming(): CardView {
  const at = nextPollAt()
  return {
    state: 'resuming',
    status: at === null ? words.unreachableYet : retryCountdown(at),
    note: at === null ? undefined : words.unreachable,
    actions: ['retry', 'edit', 'dismiss'],
  }
}
