/** What the card of an upload says and offers, state by state. */
import type { Compressed } from '../../../client/types.ts'
import { facts, inWords, words } from '../page/facts.ts'
import type { Item } from '../upload/queue.ts'
import type { Action, CardView } from './card.ts'
import { typeName } from './picture-card.ts'

/** Refusals of the file itself: another try of the same file ends the same. */
const HOPELESS = new Set(['unsupported-type', 'damaged-image', 'blocked-image', 'file-too-large'])

/** `reason`: why it failed, if it did. */
export function viewOf({ state, file, compressed }: Item, reason?: string): CardView {
  const size = inWords.bytes(file.size)
  const made = compressed ? whatWasDone(compressed) : size
  switch (state.at) {
    case 'queued':
    case 'compressing':
      return { state: state.at, status: words[state.at], note: size, actions: ['cancel'] }
    case 'asking':
      return { state: 'asking', status: words.asking, actions: ['without-place', 'with-place', 'cancel'] }
    case 'ready':
      return { state: 'ready', status: words.ready, note: made, percent: 0, actions: ['cancel'] }
    case 'uploading': {
      const { percent } = state
      const status = percent < 100 ? inWords.fill(words.uploading, { percent }) : words.arriving
      return { state: 'uploading', status, note: made, percent, actions: ['cancel'] }
    }
    case 'waiting': {
      const seconds = Math.ceil(state.seconds)
      const status = navigator.onLine ? inWords.fill(words.waiting, { seconds }) : words.offline
      return { state: 'waiting', status, note: made, actions: ['cancel'] }
    }
    case 'failed': {
      const isHopeless = HOPELESS.has((state.error as { code?: string }).code ?? '')
      const actions: Action[] = isHopeless ? ['dismiss'] : ['retry', 'dismiss']
      return { state: 'failed', status: reason ?? words.failed, actions }
    }
    case 'cancelled':
      return { state: 'cancelled', status: words.cancelled, actions: ['retry', 'dismiss'] }
    case 'done':
      return { state: 'done', status: made, actions: [] }
  }
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

/** What else has to be said of a picture that is up. */
export function noteOn({ mode, compressed }: Item, remembered: boolean): string | undefined {
  if (!remembered) return words.notRemembered
  const sentPlace = compressed?.hasLocation && mode === 'original' && compressed.action === 'unchanged'
  return sentPlace && facts.stripsMetadata && compressed.type !== 'image/gif' ? words.placeRemoved : undefined
}
