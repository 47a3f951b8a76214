/** What the card of an upload says and offers, state by state. */
import type { Compressed } from '../../../client/types.ts'
import { EXTENSIONS, typeName } from '../../../protocol.ts'
import { inWords, words } from '../upload/facts.ts'
import type { Item, State } from '../upload/queue.ts'
import type { CardView } from './card.ts'

/** The code of a refusal; empty for any other error. */
export function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

/** Compression that takes longer can be skipped. Unit: milliseconds. */
export const LONG_MS = 3000

/** An upload is spoken of in bytes and seconds from this size on, after this time. */
const LARGE_BYTES = 1024 * 1024
const SETTLED_MS = 1500

export function viewOf({ state, file, mode, compressed }: Item): CardView {
  const size = inWords.bytes(file.size)
  const made = compressed ? whatWasDone(compressed) : size
  switch (state.at) {
    case 'queued':
      return { state: 'queued', status: words.queued, note: size, actions: ['edit', 'cancel'] }
    case 'compressing': {
      const { since, step, steps, type } = state
      const took = performance.now() - since
      const isLong = took >= LONG_MS && mode !== 'original'
      const sentence = isLong ? words.compressingLong : words.compressing
      return {
        state: 'compressing',
        status:
          step === 1 && type && !(type in EXTENSIONS)
            ? inWords.fill(words.fetchingDecoder, { type: typeName(type) })
            : inWords.fill(sentence, { step, steps, seconds: Math.round(took / 1000) }),
        note: size,
        percent: (100 * (step - 1)) / steps,
        actions: isLong ? ['skip', 'cancel'] : ['edit', 'cancel'],
      }
    }
    case 'asking':
      return {
        state: 'asking',
        status: words.asking,
        actions: ['without-place', 'with-place', 'cancel'],
      }
    case 'ready':
      return { state: 'ready', status: words.ready, note: made, percent: 0, actions: ['edit', 'cancel'] }
    case 'uploading': {
      const { percent } = state
      const status = percent < 100 ? inWords.fill(words.uploading, { percent }) : words.arriving
      return { state: 'uploading', status, note: paceOf(state) ?? made, percent, actions: ['edit', 'cancel'] }
    }
    case 'waiting':
      return {
        state: 'waiting',
        status: untilNextTry(state.until),
        note: made,
        percent: 0,
        actions: ['edit', 'cancel'],
      }
    // Not even what uploads could be had: that has words for all other failures.
    case 'failed':
    case 'cancelled': {
      const status = state.at === 'failed' ? words.unreachable : words.cancelled
      return { state: state.at, status, actions: ['retry', 'edit', 'dismiss'] }
    }
    case 'done':
      return { state: 'done', status: made, actions: [] }
  }
}

/** The next try comes at `until`, by the page's clock, in milliseconds. */
export function untilNextTry(until: number): string {
  const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1000))
  return navigator.onLine ? inWords.fill(words.waiting, { seconds }) : words.offline
}

/** "5 MB of 12 MB · 1.3 MB/s · 6 s left", once there is something to go by. */
function paceOf({ sentBytes, totalBytes, since }: Extract<State, { at: 'uploading' }>): string | null {
  const took = performance.now() - since
  if (totalBytes < LARGE_BYTES || took < SETTLED_MS || sentBytes === 0) return null
  const perSecond = (sentBytes / took) * 1000
  const seconds = Math.ceil((totalBytes - sentBytes) / perSecond)
  const values = {
    sent: inWords.bytes(sentBytes),
    total: inWords.bytes(totalBytes),
    speed: inWords.bytes(perSecond),
    seconds,
  }
  return inWords.fill(seconds > 0 ? words.speedLeft : words.speed, values)
}

/** "PNG 2.0 MB → WebP 400 kB, identical pixels" */
export function whatWasDone({ action, fallback, type, typeIn, bytesIn, bytesOut }: Compressed): string {
  const from = `${typeName(typeIn)} ${inWords.bytes(bytesIn)}`
  if (fallback) return `${from}, ${words.notCompressed}`
  if (action === 'unchanged') return `${from}, ${words.unchanged}`
  const to = type === typeIn ? inWords.bytes(bytesOut) : `${typeName(type)} ${inWords.bytes(bytesOut)}`
  return bytesOut === bytesIn || inWords.bytes(bytesIn) === inWords.bytes(bytesOut)
    ? `${from}, ${words[action]}`
    : `${from} → ${to}, ${words[action]}`
}
