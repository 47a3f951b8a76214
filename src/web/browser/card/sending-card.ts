/** Card contents for each state of an upload, once the upload code is loaded. */
import type { Compressed } from '../../../client/types.ts'
import { typeName } from '../../../protocol.ts'
import { facts, inWords, words } from '../upload/facts.ts'
import type { Item, State } from '../upload/queue.ts'
import type { CardView } from './card.ts'
import { viewOf } from './upload-card.ts'

/** Minimum size and elapsed time before an upload shows its speed. Unit: bytes, milliseconds. */
const MIN_SPEED_BYTES = 1024 * 1024
const MIN_SPEED_MS = 1500

/** True if the picture would be sent, and kept, with its location. */
export function mustAsk({ compressed, mode, locationAllowed }: Item): boolean {
  const isUnmodified = mode === 'original' || compressed?.type === 'image/gif'
  const keepsLocation = !facts.stripsMetadata || compressed?.type === 'image/gif'
  return Boolean(compressed?.hasLocation) && isUnmodified && keepsLocation && !locationAllowed
}

export function viewOfSending(item: Item): CardView {
  const { state, file, compressed } = item
  const summary = compressed ? describeCompression(compressed) : inWords.bytes(file.size)
  switch (state.at) {
    case 'asking':
      return {
        state: 'asking',
        status: words.asking,
        // A GIF is never changed.
        actions: [
          ...(compressed?.type === 'image/gif' ? [] : ['without-place' as const]),
          'with-place',
          'cancel',
        ],
      }
    case 'ready':
      return { state: 'ready', status: words.ready, note: summary, percent: 0, actions: ['edit', 'cancel'] }
    case 'uploading': {
      const { percent } = state
      const sentence = percent < 100 ? words.uploading : words.arriving
      return {
        state: 'uploading',
        // Before the first byte, the service may ask for proof of work.
        status: percent > 0 ? inWords.fill(sentence, { percent }) : words.starting,
        note: speedNote(state) ?? summary,
        percent,
        actions: ['edit', 'cancel'],
      }
    }
    case 'waiting':
      return { ...viewOf(item), note: summary }
    default:
      return viewOf(item)
  }
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
