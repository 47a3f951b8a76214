/** Puts a marker wherever a file can hold one, with lengths and checksums put right. */
import { pngChunk, pngChunks, pngOf, webpBody, webpChunks, webpOf } from '../chunks.ts'
import { box, bytes, fullBox, u32 } from './avif/boxes.ts'
import { segment } from './jpeg-coder.ts'

/** Long enough to be no accident, short enough for small fields. Nothing in it ends a scan or a text. */
export const MARKER = Buffer.from('S3CRET!!')

export interface Planted {
  where: string
  bytes: Uint8Array
}

/** Bytes from `start` to `end` that carry the coded picture, or by which every decoder colours it. */
export interface Coded {
  start: number
  end: number
}

export interface Planter {
  /** Made larger: at the end of each part, and as parts of its own at each seam. */
  inserted(file: Uint8Array): Planted[]
  /** Whether a marker survives in these can't be told without decoding pixels: they are excused. */
  coded(file: Uint8Array): Coded[]
  /** Checksums put right after bytes were overwritten. `null` if that can't be done. */
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
    return [...planted, { where: 'behind the end', bytes: Buffer.concat([file, MARKER]) }]
  },
  coded(file) {
    let at = 0
    return jpegParts(file).flatMap(({ marker, head, rest }) => {
      const start = at
      at += head.length + rest.length
      if (marker === 0xda) return [{ start: start + head.length, end: at }]
      // Which codes of a table, and which values, occur is only seen by decoding. A profile is what colours are.
      return marker === 0xc4 || marker === 0xdb || marker === 0xe2 ? [{ start: start + 4, end: at }] : []
    })
  },
  repaired: (file) => file,
}

const STRANGE_SEGMENTS: Record<string, Buffer> = {
  'a comment': segment(0xfe, MARKER),
  'an application segment': segment(0xe7, MARKER),
  'a table of quantisation': segment(0xdb, [
    3,
    ...Array.from({ length: 64 }, (_, index) => MARKER[index % 8] ?? 0),
  ]),
  'a table of codes': segment(0xc4, [0x03, 0, 8, ...new Array(14).fill(0)], MARKER),
  DNL: segment(0xdc, MARKER),
  DAC: segment(0xcc, MARKER),
  'a profile': segment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01'), MARKER, new Uint8Array(200)),
  'a share of a profile': segment(0xe2, Buffer.from('ICC_PROFILE\0\x02\x02'), MARKER),
  JFIF: segment(0xe0, Buffer.from('JFIF\0'), MARKER, new Uint8Array(8)),
}

/** Markers with their segments; the coded data of a scan, and nothing else, is `rest`. */
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

const CODED_PNG = new Set(['IDAT', 'fdAT', 'PLTE', 'iCCP', 'cHRM', 'mDCV', 'fcTL'])

export const pngPlanter: Planter = {
  inserted(file) {
    const chunks = pngChunks(file)
    const planted: Planted[] = []
    for (const [index, chunk] of chunks.entries()) {
      // Where the zlib stream ends is only seen by inflating the picture.
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
    return [...planted, { where: 'behind the end', bytes: Buffer.concat([file, MARKER]) }]
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
    return [...planted, { where: 'behind the end', bytes: Buffer.concat([file, MARKER]) }]
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

/** Boxes that hold boxes, and how much stands before those. */
const CONTAINERS: Record<string, number> = {
  ...{
    meta: 4,
    iprp: 0,
    ipco: 0,
    iinf: 6,
    iref: 4,
    grpl: 0,
    moov: 0,
    trak: 0,
    tref: 0,
    edts: 0,
    mdia: 0,
    minf: 0,
  },
  ...{ stbl: 0, dinf: 0, dref: 8, stsd: 8, av01: 78 },
}
/** These say how many boxes are in them. */
const COUNTED = new Set(['iinf', 'dref', 'stsd'])

interface Tree {
  type: string
  /** Before the children, or all there is. */
  head: Uint8Array
  children: Tree[]
}

function treesIn(file: Uint8Array, from: number, end: number): Tree[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  const trees: Tree[] = []
  for (let at = from; at + 8 <= end; ) {
    const length = view.getUint32(at)
    const type = Buffer.from(file.subarray(at + 4, at + 8)).toString('latin1')
    const inner = Object.hasOwn(CONTAINERS, type) ? CONTAINERS[type] : undefined
    const bodyEnd = inner === undefined ? at + length : at + 8 + inner
    const children = inner === undefined ? [] : treesIn(file, bodyEnd, at + length)
    trees.push({ type, head: file.subarray(at + 8, bodyEnd), children })
    at += length
  }
  return trees
}

function written({ type, head, children }: Tree): Uint8Array {
  return box(type, head, ...children.map(written))
}

/** For files whose data stands before their description, so that no place in it changes. */
export const avifPlanter: Planter = {
  inserted(file) {
    const planted: Planted[] = []
    const visit = (trees: Tree[], whole: (trees: Tree[]) => Uint8Array, path: string) => {
      for (const [index, tree] of trees.entries()) {
        const { type, head, children } = tree
        const here = `${path}/${type}`
        if (type !== 'mdat') {
          const tail: Tree = { type: '', head: MARKER, children: [] }
          const longer = children.length > 0 ? tree : { type, head: bytes(head, tail.head), children }
          if (longer !== tree)
            planted.push({ where: `at the end of ${here}`, bytes: whole(trees.with(index, longer)) })
        }
        if (children.length > 0 && !COUNTED.has(type)) {
          for (const [strange, extra] of Object.entries(STRANGE_BOXES)) {
            const more = { type, head, children: [...children, extra] }
            planted.push({ where: `${strange} in ${here}`, bytes: whole(trees.with(index, more)) })
          }
        }
        visit(children, (inner) => whole(trees.with(index, { type, head, children: inner })), here)
      }
    }
    const top = treesIn(file, 0, file.length)
    const whole = (trees: Tree[]) => bytes(...trees.map(written))
    visit(top, whole, '')
    for (const [strange, extra] of Object.entries(STRANGE_BOXES)) {
      planted.push({ where: `${strange} at the end`, bytes: whole([...top, extra]) })
    }
    return [...planted, { where: 'behind the end', bytes: bytes(file, MARKER) }]
  },
  coded(file) {
    const all = Buffer.from(file)
    const mdat = all.indexOf('mdat')
    const found = [{ start: mdat + 4, end: mdat - 4 + all.readUInt32BE(mdat - 4) }]
    // Players go by how long a sequence is, and how fast: times, and the preferred rate behind them.
    for (const header of ['mvhd', 'mdhd']) {
      const at = all.indexOf(header)
      if (at > 0) found.push({ start: at + 16, end: at + 28 })
    }
    for (let at = all.indexOf('colrprof'); at >= 0; at = all.indexOf('colrprof', at + 1)) {
      found.push({ start: at + 8, end: at - 4 + all.readUInt32BE(at - 4) })
    }
    return found
  },
  repaired: (file) => file,
}

function strange(made: Uint8Array): Tree {
  return { type: Buffer.from(made.subarray(4, 8)).toString('latin1'), head: made.subarray(8), children: [] }
}

const STRANGE_BOXES: Record<string, Tree> = {
  uuid: strange(box('uuid', new Uint8Array(16), MARKER)),
  free: strange(box('free', MARKER)),
  'a box nobody knows': strange(box('prvt', MARKER)),
  udta: strange(box('udta', box('name', MARKER))),
  'a property of nothing': strange(box('colr', 'nclx', [0, 1, 0, 1, 0, 1, 0x80], MARKER)),
  'a group': strange(fullBox('altr', 0, 0, u32(9, 2), MARKER)),
}
