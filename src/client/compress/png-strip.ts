/** Extracts the first rows of a PNG as a separate PNG, to estimate what repacking the whole would save. */
import { concatBytes } from '../../bytes.ts'
import { latin1 } from '../../formats/bytes/text.ts'
import { deflate, inflate } from '../../formats/bytes/zlib.ts'
import { encodeChunk } from '../../formats/png/chunks.ts'
import { bitsPerPixel, readPngHeader } from '../../formats/png/header.ts'

interface Strip {
  png: Uint8Array<ArrayBuffer>
  /** Size of these rows in the original file. Unit: bytes. */
  bytes: number
}

/** Large enough for an estimate. Unit: pixels. */
const STRIP_PIXELS = 200_000
/** First rows that compress this much better than the average are not representative. */
const MAX_RATIO = 16

const SIGNATURE_BYTES = 8
/** Chunks needed to interpret the pixels. */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS'])

/**
 * PNG filters only refer to pixels above and to the left, so the first rows can be decoded alone. `null` if no estimate is
 * possible. `png` must be valid.
 */
export async function stripOf(png: Uint8Array): Promise<Strip | null> {
  const view = new DataView(png.buffer, png.byteOffset, png.length)
  const chunks: { name: string; body: Uint8Array }[] = []
  for (let at = SIGNATURE_BYTES; at + 12 <= png.length; ) {
    const length = view.getUint32(at)
    chunks.push({ name: latin1(png.subarray(at + 4, at + 8)), body: png.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  const ownHeader = chunks.find(({ name }) => name === 'IHDR')?.body.slice()
  if (!ownHeader) return null
  const header = readPngHeader(ownHeader)
  const { width, height } = header
  const packed = concatBytes(...chunks.flatMap(({ name, body }) => (name === 'IDAT' ? [body] : [])))
  const share = STRIP_PIXELS / (width * height)
  const stride = 1 + Math.ceil((width * bitsPerPixel(header)) / 8)
  if (header.interlaced || share >= 0.5) return null
  const start = packed.subarray(0, Math.ceil(share * packed.length))
  const unpacked = await inflate(start, MAX_RATIO * share * stride * height)
  const rows = Math.min(height, Math.floor((unpacked?.length ?? 0) / stride))
  if (!unpacked || rows === 0) return null
  new DataView(ownHeader.buffer).setUint32(4, rows)
  const pixels = await deflate(unpacked.subarray(0, rows * stride))
  const kept = chunks.filter(({ name }) => KEPT.has(name))
  return {
    png: concatBytes(
      png.subarray(0, SIGNATURE_BYTES),
      ...kept.map(({ name, body }) => encodeChunk(name, name === 'IHDR' ? ownHeader : body)),
      encodeChunk('IDAT', pixels),
      encodeChunk('IEND', new Uint8Array()),
    ),
    bytes: (start.length * rows * stride) / unpacked.length,
  }
}
