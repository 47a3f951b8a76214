/** What the card of a picture says and offers that failed, or that waits for a service that is away. */
import { words } from '../upload/facts.ts'
import type { Outlook, State } from '../upload/queue.ts'
import { mayPass } from '../upload/reasons.ts'
import { nextLook } from '../upload/return.ts'
import type { Action, CardView } from './card.ts'
import { codeOf, untilNextTry } from './upload-card.ts'

/** Refusals of the file itself: another try of the same file ends the same. */
const HOPELESS = new Set(['unsupported-type', 'damaged-image', 'blocked-image', 'file-too-large'])

/** What the operator decided of these bytes: offered again later, they would be told the same. */
const DECIDED = new Set(['held', 'removed'])

type Failed = Extract<State, { at: 'failed' }>

export function outlookOf(error: unknown): Outlook | undefined {
  if (mayPass(error)) return 'resumes'
  return HOPELESS.has(codeOf(error)) ? 'hopeless' : undefined
}

/** Whether the file is not to be offered again on a later visit. */
export function isDecided({ error, outlook }: Failed): boolean {
  return outlook === 'hopeless' || DECIDED.has(codeOf(error))
}

export function viewOfFailed({ error, outlook }: Failed, reason: string): CardView {
  const actions: Action[] = outlook === 'hopeless' ? ['dismiss'] : ['retry', 'edit', 'dismiss']
  // Cropped, it may be below the limit.
  if (codeOf(error) === 'file-too-large') actions.unshift('edit')
  return { state: 'failed', status: reason, actions }
}

/** It goes on by itself: nobody has to do anything, so that it is not told as a failure. */
export function viewOfResuming(): CardView {
  const at = nextLook()
  return {
    state: 'resuming',
    status: at === null ? words.unreachableYet : untilNextTry(at),
    note: at === null ? undefined : words.unreachable,
    actions: ['retry', 'edit', 'dismiss'],
  }
}
