/** Text for a terminal: escaping of untrusted text, and descriptions of results. */
import type { Compressed } from '../../client/types.ts'
import { typeName } from '../../protocol.ts'

/** Control characters, line separators, and bidirectional formatting characters (Unicode TR 9). */
const UNSAFE = /[\p{Cc}\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes untrusted text, e.g. a file name or a service's message, so that the terminal doesn't interpret it. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** JSON for a terminal: also escapes U+007F to U+009F and bidi marks, which `JSON.stringify` doesn't. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const ACTIONS = {
  unchanged: 'unchanged',
  scrubbed: 'metadata removed',
  lossless: 'identical pixels',
  lossy: 'recompressed',
}

const FALLBACKS = {
  'codec-error': 'not recompressed: the codec failed',
  'timed-out': 'not recompressed: it took too long',
  'no-webassembly': 'not recompressed: no WebAssembly',
  'no-worker': 'not recompressed: no worker could start',
  'too-many-pixels': 'not recompressed: too many pixels',
}

/** E.g. `PNG 2.0 MB → WebP 0.4 MB (−80 %), identical pixels`. */
export function describe(result: Compressed): string {
  const { typeIn, type, bytesIn, bytesOut, action, fallback, losesHdr } = result
  const before = `${typeName(typeIn)} ${bytesText(bytesIn)}`
  const done = `${fallback ? FALLBACKS[fallback] : ACTIONS[action]}${losesHdr ? ', HDR removed' : ''}`
  if (bytesIn === bytesOut) return `${before}, ${done}`
  const after = `${typeIn === type ? '' : `${typeName(type)} `}${bytesText(bytesOut)}`
  const percent = Math.round((100 * (bytesIn - bytesOut)) / bytesIn)
  return `${before} → ${after} (${percent >= 0 ? '−' : '+'}${Math.abs(percent)} %), ${done}`
}

export const LOCATION_WARNING =
  'contains the location where it was taken, and so does the result. All modes but "original" remove it.'

/** Local time, to the minute. `time`: ISO 8601, or epoch milliseconds. */
export function localTime(time: string | number): string {
  return new Date(time).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
