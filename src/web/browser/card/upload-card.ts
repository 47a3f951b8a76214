/** Card contents for each state of an upload. */
import type { Compressed } from '../../../client/types.ts'
import { EXTENSIONS, typeName } from '../../../protocol.ts'
import { inWords, words } from '../upload/facts.ts'
import type { Item, State } from '../upload/queue.ts'
import type { CardView } from './card.ts'

/** The refusal's code; empty for any other error. */
export function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

/** Compression can be skipped after this time. Unit: milliseconds. */
export const SKIPPABLE_MS = 3000

/** Minimum size and elapsed time before an upload shows its speed. Unit: bytes, milliseconds. */
const MIN_SPEED_BYTES = 1024 * 1024
const MIN_SPEED_MS = 1500

export function viewOf({ state, file, mode, compressed }: Item): CardView {
  const size = inWords.bytes(file.size)
  const summary = compressed ? describeCompression(compressed) : size
  switch (state.at) {
    case 'queued':
      return { state: 'queued', status: words.queued, note: size, actions: ['edit', 'cancel'] }
    case 'compressing': {
      const { since, step, steps, type } = state
      const elapsed = performance.now() - since
      const isLong = elapsed >= SKIPPABLE_MS && mode !== 'original'
      const sentence = isLong ? words.compressingLong : words.compressing
      return {
        state: 'compressing',
        status:
          step === 1 && type && !(type in EXTENSIONS)
            ? inWords.fill(words.fetchingDecoder, { type: typeName(type) })
            : inWords.fill(sentence, { step, steps, seconds: Math.round(elapsed / 1000) }),
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
      return { state: 'ready', status: words.ready, note: summary, percent: 0, actions: ['edit', 'cancel'] }
    case 'uploading': {
      const { percent } = state
      const status = percent < 100 ? inWords.fill(words.uploading, { percent }) : words.arriving
      return {
        state: 'uploading',
        status,
        note: speedNote(state) ?? summary,
        percent,
        actions: ['edit', 'cancel'],
      }
    }
    case 'waiting':
      return {
        state: 'waiting',
        status: retryCountdown(state.until),
        note: summary,
        percent: 0,
        actions: ['edit', 'cancel'],
      }
    // The upload chunk failed to load. It has the messages for all other failures.
    case 'failed':
    case 'cancelled': {
      const status = state.at === 'failed' ? words.unreachable : words.cancelled
      return { state: state.at, status, actions: ['retry', 'edit', 'dismiss'] }
    }
    case 'done':
      return { state: 'done', status: summary, actions: [] }
  }
}

/** `until`: time of the next attempt, on the `performance.now()` clock. */
export function retryCountdown(until: number): string {
  const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1000))
  return navigator.onLine ? inWords.fill(words.waiting, { seconds }) : words.offline
}

/** "5 MB of 12 MB · 1.3 MB/s · 6 s left", or `null` before the speed is known. */
function speedNote({ sentBytes, totalBytes, since }: Extract<State, { at: 'uploading' }>): string | null {
  const elapsed = performance.now() - since
  if (totalBytes < MIN_SPEED_BYTES || elapsed < MIN_SPEED_MS || sentBytes === 0) return null
  const perSecond = (sentBytes / elapsed) * 1000
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
export function describeCompression({
  action,
  fallback,
  type,
  typeIn,
  bytesIn,
  bytesOut,
}: Compressed): string {
  const from = `${typeName(typeIn)} ${inWords.bytes(bytesIn)}`
  if (fallback) return `${from}, ${words.notCompressed}`
  if (action === 'unchanged') return `${from}, ${words.unchanged}`
  const to = type === typeIn ? inWords.bytes(bytesOut) : `${typeName(type)} ${inWords.bytes(bytesOut)}`
  return bytesOut === bytesIn || inWords.bytes(bytesIn) === inWords.bytes(bytesOut)
    ? `${from}, ${words[action]}`
    : `${from} → ${to}, ${words[action]}`
}
