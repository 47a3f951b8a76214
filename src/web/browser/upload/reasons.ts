/** Error messages. */
import { Refusal, ServerRefusal, Unreachable } from '../../../client/errors.ts'
import { HEIC_BRANDS } from '../../../formats/heic/brands.ts'
import { facts, inWords, words } from './facts.ts'
import { quotaMessage } from './progress.ts'

/** A network or server fault: the same file may succeed later. */
export function isTransient(error: unknown): boolean {
  // Also what a proxy answers when the server is down.
  if (error instanceof ServerRefusal) return error.code === 'unavailable' && error.status >= 500
  // A TypeError includes a script or codec that failed to load.
  return error instanceof Unreachable || error instanceof TypeError
}

/** User-facing reason why an upload (or a deletion, without `file`) failed. */
export async function reasonOf(error: unknown, file?: File, bytesOut?: number): Promise<string> {
  // Only uploads are retried automatically.
  if (isTransient(error)) return file ? words.unreachableYet : words.unreachable
  if (error instanceof ServerRefusal && error.code === 'quota-exceeded') {
    return quotaMessage(error.retryAfterSeconds)
  }
  if (error instanceof Refusal) {
    if (file?.size === 0) return words.empty
    const limit = inWords.limit()
    if (error.code === 'unsupported-type' && file) return words.kinds[await kindOf(file)]
    if (error.code === 'file-too-large' && bytesOut) {
      return inWords.fill(words.tooLarge, { size: inWords.bytes(bytesOut), limit })
    }
    return inWords.fill(facts.refusals[error.code] ?? error.detail, { limit })
  }
  return words.unreadable
}

type Kind = 'heic' | 'jxl' | 'vector' | 'video' | 'document' | 'raw' | 'other'

const BY_NAME: [RegExp, Kind][] = [
  [/\.(heic|heif|hif)$/i, 'heic'],
  [/\.jxl$/i, 'jxl'],
  [/\.svgz?$/i, 'vector'],
  [/\.(mp4|m4v|mov|webm|mkv|avi)$/i, 'video'],
  [/\.(pdf|docx?|odt|pages|pptx?)$/i, 'document'],
  [/\.(dng|cr2|cr3|nef|arw|raf|orf|rw2|psd|xcf|tiff?)$/i, 'raw'],
]

const BY_TYPE: [RegExp, Kind][] = [
  [/^image\/hei[cf]/, 'heic'],
  [/^image\/jxl/, 'jxl'],
  [/^image\/svg/, 'vector'],
  [/^video\//, 'video'],
  [/pdf|word|text\//, 'document'],
  [/^image\/(x-|tiff|vnd\.adobe)/, 'raw'],
]

/** Guesses the kind of an unsupported file, for a helpful message. */
async function kindOf(file: File): Promise<Kind> {
  const head = new TextDecoder('latin1').decode(await file.slice(4, 12).arrayBuffer())
  // The major brand of an ISO media file (ISO/IEC 14496-12, 4.3).
  if (head.startsWith('ftyp') && HEIC_BRANDS.has(head.slice(4))) return 'heic'
  for (const [pattern, kind] of BY_NAME) if (pattern.test(file.name)) return kind
  for (const [pattern, kind] of BY_TYPE) if (pattern.test(file.type)) return kind
  return 'other'
}
