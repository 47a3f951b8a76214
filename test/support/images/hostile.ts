/** Files that maximize the cost of a walk for their size. Some are valid, most are refused. */
import { pngChunk, pngChunks, pngOf, webpChunks, webpOf } from '../chunks.ts'
import { hostileAvifs } from './hostile-avif.ts'
import { exifSegment, xmpSegment } from './jpeg.ts'
import { codeJpeg, EOI, segment, withSegments } from './jpeg-coder.ts'
import { frames, picture } from './pictures.ts'
import { onePixelFrames } from './png.ts'
import { cameraExif, editorXmp, tiff } from './private-metadata.ts'

/** Functions that make the files. `size`: approximate file size. Unit: bytes. */
export async function hostileImages(size: number): Promise<Record<string, () => Uint8Array>> {
  return {
    ...(await hostileJpegs(size)),
    ...(await hostilePngs(size)),
    ...(await hostileGifs(size)),
    ...(await hostileWebps(size)),
    ...(await hostileAvifs(size)),
  }
}

type Makers = Record<string, () => Buffer>

function filled(pattern: Uint8Array | string, size: number): Buffer {
  const length = typeof pattern === 'string' ? Buffer.byteLength(pattern, 'latin1') : pattern.length
  return Buffer.alloc(Math.max(length, size - (size % length)), pattern as Uint8Array, 'latin1')
}

async function hostileJpegs(size: number): Promise<Makers> {
  const jpeg = await picture().jpeg().toBuffer()
  /** Inserts bytes between the coded data and EOI. */
  const inScan = (more: Buffer) => Buffer.concat([jpeg.subarray(0, -2), more, EOI])
  const before = (piece: Uint8Array | string) => withSegments(jpeg, filled(piece, size))
  const long = (body: Uint8Array) => Buffer.concat([body, Buffer.alloc(60_000, ' GPS')])
  const scan = codeJpeg({ width: 8, height: 8 }).subarray(-14, -2)
  return {
    'JPEG, stuffed bytes': () => inScan(filled('\xff\0', size)),
    'JPEG, fill bytes': () => inScan(filled('\xff', size)),
    'JPEG, long scan': () => inScan(filled('\x55', size)),
    'JPEG, restarts': () =>
      inScan(filled('\xff\xd0\xff\xd1\xff\xd2\xff\xd3\xff\xd4\xff\xd5\xff\xd6\xff\xd7', size)),
    'JPEG, scans': () => inScan(filled(scan, size)),
    'JPEG, empty segments': () => before('\xff\xe4\0\x02'),
    'JPEG, tables': () => before(segment(0xdb, [0, ...new Array(64).fill(8)])),
    'JPEG, standalone markers': () => before('\xff\x01'),
    'JPEG, fill bytes before a segment': () => before('\xff'),
    'JPEG, comments': () => before(segment(0xfe, Buffer.alloc(65_000))),
    'JPEG, Exif': () => before(exifSegment(long(cameraExif()))),
    'JPEG, XMP': () => before(xmpSegment(long(editorXmp()))),
    'JPEG, many listed images': () => manyListed(jpeg, size),
    'JPEG, bytes after the end': () => Buffer.concat([jpeg, filled('x', size)]),
  }
}

/** An index of images at nearly the same offset, each a JPEG that extends to the end of the file. */
function manyListed(jpeg: Buffer, size: number): Buffer {
  const count = 500
  const entries = Buffer.alloc(count * 16)
  const version = segment(0xe2, Buffer.from('urn:iso:std:iso:ts:21496:-1\0\0\0\0\0'))
  const first = () => {
    const index = tiff([{ tag: 0xb002, type: 7, value: [...entries] }])
    return withSegments(jpeg, version, segment(0xe2, Buffer.from('MPF\0'), index))
  }
  const { length } = first()
  // Each has a segment that hides the starts of those after it; they share the rest.
  const starts = Array.from({ length: count }, (_, at) => {
    const hidden = 6 * (count - at) - 4
    return Buffer.from([0xff, 0xd8, 0xff, 0xe4, hidden >> 8, hidden & 255])
  })
  const listed = Buffer.concat([...starts, jpeg.subarray(2, -2), filled('\x55', size)])
  for (let at = 0; at < count; at++) {
    entries.writeUInt32LE(listed.length - 6 * at, at * 16 + 4)
    entries.writeUInt32LE(length - (2 + version.length + 8) + 6 * at, at * 16 + 8)
  }
  return Buffer.concat([first(), listed])
}

async function hostilePngs(size: number): Promise<Makers> {
  const png = await picture().png().toBuffer()
  const [header, ...rest] = pngChunks(png)
  if (!header) throw new Error('sharp wrote no chunks')
  /** Inserts chunks after IHDR. */
  const amid = (...chunks: { type: string; body: Buffer }[]) => {
    const piece = pngOf(chunks).subarray(8)
    return Buffer.concat([png.subarray(0, 33), filled(piece, size), png.subarray(33)])
  }
  const text = pngChunk('tEXt')
  return {
    'PNG, one long chunk': () => amid(pngChunk('prVt', filled('x', size))),
    'PNG, empty chunks': () => amid(pngChunk('prVt')),
    'PNG, empty kept chunks': () => amid(pngChunk('gAMA')),
    'PNG, kept and removed alternately': () => amid(pngChunk('pHYs', Buffer.alloc(9)), text),
    'PNG, Exif': () => amid(pngChunk('eXIf', Buffer.concat([cameraExif(), Buffer.alloc(90_000)]))),
    'PNG, international text': () => amid(pngChunk('iTXt', Buffer.alloc(140_000, 'x'))),
    'PNG, profiles': () => amid(pngChunk('iCCP', Buffer.alloc(140_000, 'x'))),
    'PNG, one long picture': () =>
      pngOf([
        header,
        ...rest.flatMap((chunk) =>
          chunk.type === 'IDAT' ? pngChunk('IDAT', Buffer.concat([chunk.body, filled('x', size)])) : chunk,
        ),
      ]),
    'PNG, empty pieces of the picture': () => {
      const end = png.length - 12
      return Buffer.concat([
        png.subarray(0, end),
        filled(pngOf([pngChunk('IDAT')]).subarray(8), size),
        png.subarray(end),
      ])
    },
    'APNG, frames of one pixel': () => {
      const count = Math.ceil(size / 55)
      const animation = Buffer.alloc(8)
      animation.writeUInt32BE(count)
      return pngOf([
        header,
        pngChunk('acTL', animation),
        ...rest.slice(0, -1),
        ...onePixelFrames(count, Buffer.alloc(1)),
        pngChunk('IEND'),
      ])
    },
  }
}

async function hostileGifs(size: number): Promise<Makers> {
  const gif = await picture().gif().toBuffer()
  const amid = (...more: Buffer[]) => Buffer.concat([gif.subarray(0, -1), ...more, gif.subarray(-1)])
  const comment = Buffer.from('!\xfe', 'latin1')
  return {
    'GIF, short sub-blocks': () => amid(comment, filled('\x01x', size), Buffer.alloc(1)),
    'GIF, long sub-blocks': () => amid(comment, filled('\xff', size - (size % 256)), Buffer.alloc(1)),
    'GIF, empty extensions': () => amid(filled('!\xfe\0', size)),
    'GIF, empty applications': () => amid(filled('!\xff\0', size)),
    'GIF, zero bytes': () => amid(filled('\0', size)),
    'GIF, XMP': () => amid(filled('!\xff\x0bXMP DataXMP\0', size)),
    'GIF, frames of one pixel': () => amid(filled(',\0\0\0\0\x01\0\x01\0\0\x02\x01x\0', size)),
  }
}

async function hostileWebps(size: number): Promise<Makers> {
  const webp = await picture().webp().toBuffer()
  const animation = webpChunks(
    await (await frames(2, { width: 1, height: 1 })).webp({ lossless: true }).toBuffer(),
  )
  const start = webpOf(animation)
  /** Appends chunks to the animation. */
  const behind = (piece: Uint8Array | string) => {
    const file = Buffer.concat([start, filled(piece, size)])
    file.writeUInt32LE(file.length - 8, 4)
    return file
  }
  const of = (type: string, body: Uint8Array) => webpOf([{ type, body: Buffer.from(body) }]).subarray(12)
  const frame = animation.find(({ type }) => type === 'ANMF')
  if (!frame) throw new Error('sharp wrote no frame')
  return {
    'WebP, one long chunk': () => behind(of('PRVT', filled('x', size))),
    'WebP, empty chunks': () => behind('PRVT\0\0\0\0'),
    'WebP, frames of one pixel': () => behind(of('ANMF', frame.body)),
    'WebP, frames with litter': () =>
      behind(of('ANMF', Buffer.concat([frame.body, of('PRVT', Buffer.alloc(0))]))),
    'WebP, a frame of empty chunks': () =>
      behind(of('ANMF', Buffer.concat([frame.body, filled('PRVT\0\0\0\0', size)]))),
    'WebP, metadata': () => behind(of('EXIF', Buffer.alloc(90_000))),
    'WebP, a long tail': () => Buffer.concat([webp, filled('x', size)]),
  }
}
