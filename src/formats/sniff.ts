/** Identifies a file by its first bytes. File names and declared types are ignored. */
import type { ImageType } from '../protocol.ts'
import { isAvif } from './avif/brands.ts'
import { latin1 } from './bytes/text.ts'
import { HEIC_BRANDS } from './heic/brands.ts'

/** Enough for every signature here, and for the preamble of an SVG. Unit: bytes. */
const SNIFFED_BYTES = 4096

/** `null` when the type is not accepted. `head`: the start of the file, or all of a short one. */
export function sniff(head: Uint8Array): ImageType | null {
  const start = latin1(head.subarray(0, 12))
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return 'image/webp'
  return isAvif(head) ? 'image/avif' : null
}

/** A file type that the service does not accept. */
export interface OtherFile {
  /** For display: "a HEIC image". */
  name: string
  /** Set for types that the client can convert. */
  type?: 'image/heic' | 'image/jxl' | 'image/tiff' | undefined
}

/** Other file types that people try to upload. The first match wins. */
const OTHERS: [name: string, at: number, signatures: string[], type?: OtherFile['type']][] = [
  ['a HEIC image', 4, [...HEIC_BRANDS, 'mif1', 'msf1'].map((brand) => `ftyp${brand}`), 'image/heic'],
  ['a JPEG XL image', 0, ['\xff\x0a', '\0\0\0\x0cJXL '], 'image/jxl'],
  ['a JPEG 2000 image', 0, ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51']],
  ['a TIFF image or a raw photo', 0, ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'], 'image/tiff'],
  ['a raw photo', 0, ['FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'IIU\0', 'FOVb', '\0MRM']],
  ['a raw photo', 4, ['ftypcrx ']],
  ['a BMP image', 0, ['BM']],
  ['an icon', 0, ['\0\0\x01\0', '\0\0\x02\0']],
  ['a Photoshop document', 0, ['8BPS']],
  ['a PDF document', 0, ['%PDF-']],
  ['a video', 4, ['ftyp', 'moov', 'mdat']],
  ['a video', 0, ['\x1aE\xdf\xa3', 'FLV\x01']],
  ['an archive', 0, ['PK\x03\x04', '7z\xbc\xaf', 'Rar!']],
]

/** Names the type of an unaccepted file. `null` when unknown. */
export function sniffUnsupported(head: Uint8Array): OtherFile | null {
  const start = latin1(head.subarray(0, SNIFFED_BYTES))
  const known = OTHERS.find(([, at, signatures]) => signatures.some((text) => start.startsWith(text, at)))
  if (known) {
    const [name, , , type] = known
    return { name, type }
  }
  const text = start.replace('\xef\xbb\xbf', '').trimStart().toLowerCase()
  if (!text.startsWith('<')) return null
  if (text.includes('<svg')) return { name: 'an SVG image' }
  return text.startsWith('<!doctype html') || text.startsWith('<html') ? { name: 'a web page' } : null
}
