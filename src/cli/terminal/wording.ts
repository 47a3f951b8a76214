/** What people read about a file. */
import type { Compressed } from '../../client/types.ts'
import { typeName } from '../../protocol.ts'

const ACTIONS = {
  unchanged: 'unchanged',
  scrubbed: 'metadata removed',
  lossless: 'identical pixels',
  lossy: 'recompressed',
}

const FALLBACKS = {
  'codec-error': 'not recompressed: the codec gave up',
  'timed-out': 'not recompressed: it took too long',
  'no-webassembly': 'not recompressed: no WebAssembly',
  'no-worker': 'not recompressed: no worker could start',
  'too-many-pixels': 'not recompressed: too many pixels',
}

/** E.g. `PNG 2.0 MB → WebP 0.4 MB (−80 %), identical pixels`. */
export function describe(result: Compressed): string {
  const { typeIn, type, bytesIn, bytesOut, action, fallback, losesHdr } = result
  const before = `${typeName(typeIn)} ${bytesText(bytesIn)}`
  const done = `${fallback ? FALLBACKS[fallback] : ACTIONS[action]}${losesHdr ? ', without its HDR' : ''}`
  if (bytesIn === bytesOut) return `${before}, ${done}`
  const after = `${typeIn === type ? '' : `${typeName(type)} `}${bytesText(bytesOut)}`
  const percent = Math.round((100 * (bytesIn - bytesOut)) / bytesIn)
  return `${before} → ${after} (${percent >= 0 ? '−' : '+'}${Math.abs(percent)} %), ${done}`
}

export const LOCATION_WARNING =
  'it says where it was taken, and so will the uploaded copy. Other modes remove that.'

/** `time`: ISO 8601. To the minute, in this machine's time zone. */
export function localTime(time: string): string {
  return new Date(time).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
