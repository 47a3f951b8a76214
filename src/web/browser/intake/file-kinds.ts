/** What a file that is no picture of ours might be, so that a sentence can help. */
import { HEIC_BRANDS } from '../../../formats/heic/brands.ts'

export type Kind = 'heic' | 'jxl' | 'vector' | 'video' | 'document' | 'raw' | 'other'

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

export async function kindOf(file: File): Promise<Kind> {
  const head = new TextDecoder('latin1').decode(await file.slice(4, 12).arrayBuffer())
  // The major brand of an ISO media file (ISO/IEC 14496-12, 4.3).
  if (head.startsWith('ftyp') && HEIC_BRANDS.has(head.slice(4))) return 'heic'
  for (const [pattern, kind] of BY_NAME) if (pattern.test(file.name)) return kind
  for (const [pattern, kind] of BY_TYPE) if (pattern.test(file.type)) return kind
  return 'other'
}
