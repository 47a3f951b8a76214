/** JPEG XL (ISO/IEC 18181): what stands before the pixels. The service does not take it; clients decode it. */
import { type Box, boxFrom, fits } from '../bmff/fields.ts'
import { boxFileOf, readRun } from '../bmff/file.ts'
import { checkDimensions, cutOff, damaged } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { readExif } from '../metadata/exif.ts'
import { MOST_METADATA_BYTES } from '../metadata/xmp.ts'
import { createBits } from './bits.ts'
import { readImageHeader } from './image-header.ts'

export interface Jxl {
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** Coded by PQ or HLG: brighter than a JPEG can be. */
  isHdr: boolean
  /** Its colours are sRGB's, or grey. */
  isSrgb: boolean
  hasLocation: boolean
}

/** Headers of a codestream take some dozen bytes; names of channels may add to that. Unit: bytes. */
const HEADER_BYTES = 4096
const MAX_BOXES = 1024

/** Throws `Refusal('damaged-image')`. */
export async function readJxl(source: ByteSource): Promise<Jxl> {
  const start = await source.read(0, 2)
  const isBare = start[0] === 0xff && start[1] === 0x0a
  const { codestreamAt, exif } = isBare ? { codestreamAt: 0, exif: null } : await readContainer(source)
  const head = await source.read(codestreamAt, HEADER_BYTES)
  if (head[0] !== 0xff || head[1] !== 0x0a) throw damaged('The JPEG XL file is damaged: it has no picture.')
  const header = readImageHeader(createBits(head.subarray(2)))
  checkDimensions(header.width, header.height)
  return { ...header, hasLocation: exif !== null && (await namesPlace(source, exif)) }
}

/** Boxes of the file format (18181-2, 9). The codestream may come in parts: its start is in the first. */
async function readContainer(source: ByteSource): Promise<{ codestreamAt: number; exif: Box | null }> {
  let codestreamAt: number | null = null
  let exif: Box | null = null
  for (let at = 0, count = 0; at < source.size && count < MAX_BOXES; count++) {
    const box = boxFrom(await source.read(at, 16), at, source.size)
    if (!box || !fits(box, source.size)) break
    if (box.type === 'jxlc') codestreamAt ??= box.body
    if (box.type === 'jxlp') codestreamAt ??= box.body + 4
    if (box.type === 'Exif') exif ??= box
    at = box.end
  }
  if (codestreamAt === null) throw cutOff('JPEG XL')
  return { codestreamAt, exif }
}

/** An Exif box starts with the distance to its TIFF header (18181-2, 9.5). */
async function namesPlace(source: ByteSource, { body, end }: Box): Promise<boolean> {
  const bytes = await readRun(boxFileOf(source), {
    start: body,
    end: Math.min(end, body + MOST_METADATA_BYTES),
  })
  if (bytes.length < 4) return false
  const tiff = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return readExif(bytes.subarray(tiff)).hasLocation
}
