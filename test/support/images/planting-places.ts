/**
 * PNG and WebP files with the marker in places that the generic planters do not cover: nested fields, compressed data, hidden
 * images.
 */
import { deflateSync } from 'node:zlib'
import {
  apngOf,
  type Chunk,
  extendedWebp,
  pngChunk,
  pngChunks,
  pngOf,
  webpChunks,
  webpOf,
  withPngChunks,
} from '../chunks.ts'
import { picture } from './pictures.ts'
import { cleanProfile, profiles } from './planted-profiles.ts'
import { MARKER } from './planting.ts'
import { scatteredReferences } from './planting-places-avif.ts'
import { scatteredAdobe, scatteredIntervals, scatteredReplaced } from './planting-places-jpeg.ts'
import { tiff } from './private-metadata.ts'

const tiny = { width: 16, height: 16 }

type Places = Record<string, Uint8Array>

export async function pngPlaces(): Promise<Places> {
  const png = await picture(tiny).png().toBuffer()
  const palette = await picture(tiny).png({ palette: true, colours: 4, effort: 1 }).toBuffer()
  const { description, copyright, tag, display, calibrated } = await profiles()
  const before = (type: string, body: Uint8Array | number[] | string) =>
    withPngChunks(png, 'IDAT', pngChunk(type, body))
  const profile = (bytes: Uint8Array, name = 'icc', behind = Buffer.alloc(0)) =>
    before('iCCP', Buffer.concat([Buffer.from(`${name}\0\0`), deflateSync(bytes), behind]))
  const changed = (file: Buffer, type: string, change: (body: Buffer) => Buffer) =>
    pngOf(pngChunks(file).map((chunk) => (chunk.type === type ? pngChunk(type, change(chunk.body)) : chunk)))
  const text = deflateSync(MARKER)
  return {
    'a compressed text': before('zTXt', Buffer.concat([Buffer.from('a\0\0'), text])),
    'a compressed international text': before('iTXt', Buffer.concat([Buffer.from('a\0\x01\0\0\0'), text])),
    'a compressed Exif of ImageMagick': before(
      'zTXt',
      Buffer.concat([Buffer.from('Raw profile type exif\0\0'), text]),
    ),
    'C2PA in caBX': before('caBX', MARKER),
    'the comments of Fireworks': before('mkBF', MARKER),
    'the name of a suggested palette': before(
      'sPLT',
      Buffer.concat([MARKER, Buffer.from([0, 8, 1, 2, 3, 4, 0, 0])]),
    ),
    'the physical scale of the subject': before(
      'sCAL',
      Buffer.concat([Buffer.from([1]), MARKER, Buffer.from('\x002')]),
    ),
    'the pixel calibration': before('pCAL', Buffer.concat([MARKER, Buffer.alloc(12)])),
    'a histogram': withPngChunks(palette, 'IDAT', pngChunk('hIST', MARKER)),
    'the name of a profile': profile(await cleanProfile(), MARKER.toString()),
    'after the zlib stream of a profile': profile(await cleanProfile(), 'icc', MARKER),
    'after the end of a profile': profile(Buffer.concat([await cleanProfile(), MARKER])),
    'a palette in a truecolour image': before('PLTE', Buffer.concat([MARKER, Buffer.alloc(1)])),
    'after IEND': Buffer.concat([png, pngOf([pngChunk('tEXt', MARKER)])]),
    'frame data without an animation': withPngChunks(png, 'IEND', pngChunk('fdAT', MARKER)),
    'the resolution of Exif': before(
      'eXIf',
      tiff([{ tag: 0x011a, type: 5, value: [MARKER.readUInt32BE(), MARKER.readUInt32BE(4)] }]),
    ),
    resolution: pngOf(
      pngChunks(before('pHYs', Buffer.concat([MARKER, Buffer.from([1])]))).filter(
        ({ type, body }) => type !== 'pHYs' || body.includes(MARKER),
      ),
    ),
    primaries: before('cHRM', Buffer.concat([MARKER, Buffer.alloc(24, 1)])),
    'after the primaries': before('cHRM', Buffer.concat([Buffer.alloc(32, 1), MARKER])),
    'the luminance of a mastering display': before('mDCV', Buffer.concat([Buffer.alloc(16, 1), MARKER])),
    'the maximum luminance': before('cLLI', MARKER),
    'the description of a profile': profile(description),
    'the copyright of a profile': profile(copyright),
    'a private tag of a profile': profile(tag),
    'the display in a profile': profile(display),
    'the display in a large profile': profile(calibrated),
    'colours that no pixel uses': pngOf(
      pngChunks(await picture(tiny).png({ palette: true, colours: 16 }).toBuffer()).map((chunk) =>
        chunk.type === 'PLTE' ? pngChunk('PLTE', padded(chunk.body)) : chunk,
      ),
    ),
    'after the zlib stream of the image data': changed(png, 'IDAT', (body) => Buffer.concat([body, MARKER])),
    'the fallback image for viewers without animation': hiddenPicture(
      apngOf([png, png, png], { firstIsHidden: true }),
    ),
  }
}

/** Extends a palette to sixteen colours, the last of which contain the marker. */
function padded(palette: Buffer): Buffer {
  return Buffer.concat([palette, Buffer.alloc(48 - palette.length)]).fill(MARKER, 40, 48)
}

/** Writes the marker to the pixels of the fallback image. */
function hiddenPicture(file: Buffer): Buffer {
  const rows = Buffer.alloc(16 * (1 + 16 * 3))
  MARKER.copy(rows, 1)
  return pngOf(
    pngChunks(file).flatMap((chunk, index, all): Chunk[] => {
      if (chunk.type !== 'IDAT') return [chunk]
      return all.findIndex(({ type }) => type === 'IDAT') === index
        ? [pngChunk('IDAT', deflateSync(rows, { level: 0 }))]
        : []
    }),
  )
}

export async function webpPlaces(): Promise<Places> {
  const webp = await picture(tiny).webp().toBuffer()
  const { description, copyright, tag, display, calibrated } = await profiles()
  const profile = (bytes: Buffer) => {
    const [vp8x, ...rest] = extendedWebp(webp, tiny, 0x20)
    return webpOf([vp8x!, { type: 'ICCP', body: bytes }, ...rest])
  }
  const [coded] = webpChunks(webp)
  return {
    'unknown chunks': webpOf([...extendedWebp(webp, tiny, 0), { type: 'Junk', body: MARKER }]),
    'a second EXIF': webpOf([
      ...extendedWebp(webp, tiny, 8),
      { type: 'EXIF', body: Buffer.alloc(8) },
      { type: 'EXIF', body: MARKER },
    ]),
    'after the RIFF': Buffer.concat([webp, webpOf([{ type: 'Junk', body: MARKER }])]),
    'after the image in a simple file': webpOf([...webpChunks(webp), { type: 'Junk', body: MARKER }]),
    'a second image': webpOf([
      ...extendedWebp(webp, tiny, 0),
      { type: 'VP8 ', body: Buffer.concat([coded!.body, MARKER]) },
    ]),
    'a frame in a still image': webpOf(
      extendedWebp(webp, tiny, 0).toSpliced(
        1,
        0,
        { type: 'ANIM', body: Buffer.alloc(6) },
        { type: 'ANMF', body: Buffer.concat([Buffer.alloc(16), webp.subarray(12), MARKER]) },
      ),
    ),
    'the resolution of Exif': webpOf([
      ...extendedWebp(webp, tiny, 8),
      {
        type: 'EXIF',
        body: tiff([{ tag: 0x011a, type: 5, value: [MARKER.readUInt32BE(), MARKER.readUInt32BE(4)] }]),
      },
    ]),
    'the description of a profile': profile(description),
    'the copyright of a profile': profile(copyright),
    'a private tag of a profile': profile(tag),
    'the display in a profile': profile(display),
    'the display in a large profile': profile(calibrated),
    'after the last partition': webpOf([{ type: 'VP8 ', body: Buffer.concat([coded!.body, MARKER]) }]),
  }
}

/** Files with the marker spread over fields of one or two bytes, and the same files without the marker. */
export async function scatteredPlaces(): Promise<[planted: Buffer, clean: Buffer][]> {
  const dots = frameDots(
    webpChunks(await picture({ width: 1, height: 1 }).webp({ lossless: true }).toBuffer()),
  )
  return [
    [dots('padding'), dots()],
    [dots('flags'), dots()],
    await scatteredReferences(),
    await scatteredIntervals(),
    await scatteredAdobe(),
    ...(await scatteredReplaced()),
  ]
}

/** An animation of one-pixel frames, with one byte of the marker in each. */
function frameDots(chunks: Chunk[]): (place?: 'padding' | 'flags') => Buffer {
  const [dot] = chunks
  const body = dot!.body.length & 1 ? dot!.body : Buffer.concat([dot!.body, Buffer.alloc(1)])
  return (place) =>
    webpOf([
      { type: 'VP8X', body: Buffer.from([2, 0, 0, 0, 15, 0, 0, 15, 0, 0]) },
      { type: 'ANIM', body: Buffer.alloc(6) },
      ...[...MARKER].map((byte) => {
        const head = Buffer.alloc(16 + 8)
        head[15] = place === 'flags' ? byte & 0xfc : 0
        head.write(dot!.type, 16, 'latin1')
        head.writeUInt32LE(body.length, 20)
        return {
          type: 'ANMF',
          body: Buffer.concat([head, body, Buffer.from([place === 'padding' ? byte : 0])]),
        }
      }),
    ])
}
