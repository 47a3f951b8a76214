/** Plants a marker wherever a file can contain one, and fixes lengths and checksums. */
import { pngChunk, pngChunks, pngOf, webpBody, webpChunks, webpOf } from '../chunks.ts'
import { segment } from './jpeg-coder.ts'

/** Long enough not to occur by chance, short enough for small fields. Contains no byte that ends a scan or a text. */
export const MARKER = Buffer.from('S3CRET!!')

export interface Planted {
  where: string
  bytes: Uint8Array
}

/** A range of coded image data, or of numbers and colours that viewers use. */
export interface Coded {
  start: number
  end: number
}

export interface Planter {
  /** Files with the marker inserted: at the end of each part, and as a new part between any two parts. */
  inserted(file: Uint8Array): Planted[]
  /** Ranges in which a marker may survive, because detecting it would require decoding the pixels. */
  coded(file: Uint8Array): Coded[]
  /** Recomputes checksums after bytes were overwritten. `null` when that is impossible. */
  repaired(file: Buffer): Buffer | null
}

export const jpegPlanter: Planter = {
  inserted(file) {
    const parts = jpegParts(file)
    const planted: Planted[] = []
    for (const [index, { marker, head, rest }] of parts.entries()) {
      const replace = (...pieces: Uint8Array[]) =>
        Buffer.concat(parts.flatMap((part, at) => (at === index ? pieces : [part.head, part.rest])))
      const name = `FF ${marker.toString(16)}, segment ${index}`
      if (head.length >= 4) {
        planted.push({
          where: `at the end of ${name}`,
          bytes: replace(segment(marker, head.subarray(4), MARKER), rest),
        })
      }
      if (index === 0) continue
      for (const [kind, extra] of Object.entries(STRANGE_SEGMENTS)) {
        planted.push({ where: `${kind} before ${name}`, bytes: replace(extra, head, rest) })
      }
    }
    return [...planted, { where: 'after the end', bytes: Buffer.concat([file, MARKER]) }]
  },
  coded(file) {
    let at = 0
    return jpegParts(file).flatMap(({ marker, head, rest }, index, parts) => {
      const start = at
      at += head.length + rest.length
      // Without its header, a scan continues the coded data of the one before.
      const isNext = parts[index - 1]?.marker === 0xda
      if (marker === 0xda) return [{ start: isNext ? start : start + head.length, end: at }]
      // Only decoding shows which codes and values of a table are used. A profile determines the colours.
      return marker === 0xc4 || marker === 0xdb || marker === 0xe2 ? [{ start: start + 4, end: at }] : []
    })
  },
  repaired: (file) => file,
}

const STRANGE_SEGMENTS: Record<string, Buffer> = {
  'a comment': segment(0xfe, MARKER),
  'an application segment': segment(0xe7, MARKER),
  'a quantisation table': segment(0xdb, [
    3,
    ...Array.from({ length: 64 }, (_, index) => MARKER[index % 8] ?? 0),
  ]),
  'a Huffman table': segment(0xc4, [0x03, 0, 8, ...new Array(14).fill(0)], MARKER),
  DNL: segment(0xdc, MARKER),
  DAC: segment(0xcc, MARKER),
  'a profile': segment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01'), MARKER, new Uint8Array(200)),
  'a chunk of a profile': segment(0xe2, Buffer.from('ICC_PROFILE\0\x02\x02'), MARKER),
  JFIF: segment(0xe0, Buffer.from('JFIF\0'), MARKER, new Uint8Array(8)),
}

/** Splits a file into markers with their segments. `rest`: the entropy-coded data after a scan header. */
function jpegParts(file: Uint8Array): { marker: number; head: Buffer; rest: Buffer }[] {
  const all = Buffer.from(file)
  const parts: { marker: number; head: Buffer; rest: Buffer }[] = []
  for (let at = 0; at + 1 < all.length; ) {
    const marker = all.readUInt8(at + 1)
    const alone = marker === 0xd8 || marker === 0xd9
    const end = at + (alone ? 2 : 2 + all.readUInt16BE(at + 2))
    let next = end
    if (marker === 0xda) {
      while (!(all[next] === 0xff && all[next + 1] !== 0 && ((all[next + 1] ?? 0) & 0xf8) !== 0xd0)) next++
    }
    parts.push({ marker, head: all.subarray(at, end), rest: all.subarray(end, next) })
    if (marker === 0xd9) break
    at = next
  }
  return parts
}

const CODED_PNG = new Set(['IDAT', 'fdAT', 'PLTE', 'iCCP', 'cHRM', 'mDCV', 'pHYs', 'fcTL'])

export const pngPlanter: Planter = {
  inserted(file) {
    const chunks = pngChunks(file)
    const planted: Planted[] = []
    for (const [index, chunk] of chunks.entries()) {
      // Finding the end of the zlib stream requires inflating the image data.
      if (chunk.type !== 'IDAT' && chunk.type !== 'fdAT') {
        const longer = { type: chunk.type, body: Buffer.concat([chunk.body, MARKER]) }
        planted.push({ where: `at the end of ${chunk.type}`, bytes: pngOf(chunks.with(index, longer)) })
      }
      if (index === 0) continue
      for (const type of 'tEXt zTXt iTXt tIME prVt sPLT hIST gAMA sRGB sBIT bKGD tRNS pHYs iCCP eXIf PLTE fdAT oFFs IDOT'.split(
        ' ',
      )) {
        const before = chunks.toSpliced(index, 0, pngChunk(type, MARKER))
        planted.push({ where: `${type} before ${chunk.type}`, bytes: pngOf(before) })
        const palette = chunks.toSpliced(index, 0, pngChunk(type, Buffer.concat([MARKER, Buffer.alloc(1)])))
        planted.push({ where: `longer ${type} before ${chunk.type}`, bytes: pngOf(palette) })
      }
    }
    return [...planted, { where: 'after the end', bytes: Buffer.concat([file, MARKER]) }]
  },
  coded(file) {
    let at = 8
    return pngChunks(file).flatMap(({ type, body }) => {
      const start = at
      at += 12 + body.length
      return CODED_PNG.has(type) ? [{ start: start + 8, end: at }] : []
    })
  },
  repaired(file) {
    try {
      const fixed = pngOf(pngChunks(file))
      return fixed.length === file.length ? fixed : null
    } catch {
      return null
    }
  },
}

const CODED_WEBP = new Set(['VP8 ', 'VP8L', 'ALPH', 'ICCP'])

export const webpPlanter: Planter = {
  inserted(file) {
    const planted: Planted[] = []
    const plant = (
      chunks: { type: string; body: Buffer }[],
      whole: (body: typeof chunks) => Buffer,
      path: string,
    ) => {
      for (const [index, { type, body }] of chunks.entries()) {
        const longer = { type, body: Buffer.concat([body, MARKER]) }
        if (!CODED_WEBP.has(type) || type === 'ICCP') {
          planted.push({ where: `${path} at the end of ${type}`, bytes: whole(chunks.with(index, longer)) })
        }
        for (const strange of ['PRVT', 'EXIF', 'XMP ', 'ICCP', 'ALPH', 'ANIM']) {
          const more = chunks.toSpliced(index, 0, { type: strange, body: MARKER })
          planted.push({ where: `${path} ${strange} before ${type}`, bytes: whole(more) })
        }
        if (type !== 'ANMF') continue
        const inner = webpChunks(body, 16)
        const rebuilt = (parts: typeof chunks) =>
          whole(chunks.with(index, { type, body: Buffer.concat([body.subarray(0, 16), webpBody(parts)]) }))
        plant(inner, rebuilt, `${path} ANMF`)
      }
      const last = [...chunks, { type: 'PRVT', body: MARKER }]
      planted.push({ where: `${path} at the end`, bytes: whole(last) })
    }
    plant(webpChunks(file), webpOf, '')
    return [...planted, { where: 'after the end', bytes: Buffer.concat([file, MARKER]) }]
  },
  coded(file) {
    const found: Coded[] = []
    const walk = (from: number, end: number) => {
      const all = Buffer.from(file)
      for (let at = from; at + 8 <= end; ) {
        const type = all.toString('latin1', at, at + 4)
        const length = all.readUInt32LE(at + 4)
        if (CODED_WEBP.has(type)) found.push({ start: at + 8, end: at + 8 + length })
        if (type === 'ANMF') walk(at + 24, at + 8 + length)
        at += 8 + length + (length & 1)
      }
    }
    walk(12, file.length)
    return found
  },
  repaired: (file) => file,
}
