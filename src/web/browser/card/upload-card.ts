/** Card contents for the first states of an upload. */
import { EXTENSIONS, typeName } from '../../../protocol.ts'
import { inWords, words } from '../upload/facts.ts'
import type { Item } from '../upload/queue.ts'
import type { CardView } from './card.ts'

/** The refusal's code; empty for any other error. */
export function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

/** Compression can be skipped after this time. Unit: milliseconds. */
export const SKIPPABLE_MS = 3000

/** The card of an item in any state that can occur before the upload code has loaded, or if it fails to load. */
export function viewOf({ state, file, mode }: Item): CardView {
  const size = inWords.bytes(file.size)
  switch (state.at) {
    case 'queued':
      return { state: 'queued', status: words.queued, note: size, actions: ['edit', 'cancel'] }
    case 'compressing': {
      const { since, step, steps, type } = state
      const elapsed = performance.now() - since
      const isForeign = type && !(type in EXTENSIONS)
      const isLong = elapsed >= SKIPPABLE_MS && mode !== 'original' && !isForeign
      const sentence = isLong ? words.compressingLong : words.compressing
      return {
        state: 'compressing',
        status:
          step === 1 && isForeign
            ? inWords.fill(words.fetchingDecoder, { type: typeName(type) })
            : inWords.fill(sentence, { step, steps, seconds: Math.round(elapsed / 1000) }),
        note: size,
        percent: (100 * (step - 1)) / steps,
        actions: isLong ? ['skip', 'cancel'] : ['edit', 'cancel'],
      }
    }
    case 'waiting':
      return {
        state: 'waiting',
        status: retryCountdown(state.until),
        note: size,
        percent: 0,
        actions: ['edit', 'cancel'],
      }
    case 'cancelled':
      return { state: 'cancelled', status: words.cancelled, actions: ['retry', 'edit', 'dismiss'] }
    // Shown by the upload code.
    default:
      return { state: state.at, status: size, actions: [] }
  }
}

/** `until`: time of the next attempt, on the `performance.now()` clock. */
export function retryCountdown(until: number): string {
  const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1000))
  return navigator.onLine ? inWords.fill(words.waiting, { seconds }) : words.offline
}
