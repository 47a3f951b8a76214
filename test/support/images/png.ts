/** PNG and APNG files of every kind, with and without private metadata. */
import { deflateSync } from 'node:zlib'
import { apngOf, type Chunk, pngChunk, pngChunks, pngOf, withPngChunks } from '../chunks.ts'
import { bytes, u32 } from './avif/boxes.ts'
import { type MadeImage, naming, pages, picture } from './pictures.ts'
import { c2paManifest, cameraExif, editorXmp } from './private-metadata.ts'

const named = naming('PNG', 'image/png')

export async function pngs(): Promise<MadeImage[]> {
  const plain = await picture().png().toBuffer()
  const alpha = await picture({ channels: 4 }).png().toBuffer()
  const palette = await picture().png({ palette: true, colours: 16 }).toBuffer()
  const clean: Record<string, Buffer> = {
    colour: plain,
    'colour with alpha': alpha,
    grey: await picture({ channels: 1 }).png().toBuffer(),
    'grey with alpha': await picture({ channels: 2 }).png().toBuffer(),
    'colour, 16 bits': await picture({ deep: true }).toColourspace('rgb16').png().toBuffer(),
    'colour with alpha, 16 bits': await picture({ deep: true, channels: 4 })
      .toColourspace('rgb16')
      .png()
      .toBuffer(),
    'grey, 16 bits': await picture({ deep: true, channels: 1 }).png().toBuffer(),
    'grey, 1 bit': greyPng(1),
    'grey, 2 bits': greyPng(2),
    'grey, 4 bits': greyPng(4),
    'palette, 1 bit': await picture().png({ palette: true, colours: 2, dither: 0 }).toBuffer(),
    'palette, 2 bits': await picture().png({ palette: true, colours: 4 }).toBuffer(),
    'palette, 4 bits': palette,
    'palette, 8 bits': await picture().png({ palette: true, colours: 200 }).toBuffer(),
    'palette with alpha': await picture({ channels: 4 }).png({ palette: true }).toBuffer(),
    interlaced: await picture({ channels: 4 }).png({ progressive: true }).toBuffer(),
    'interlaced, 16 bits': await picture({ deep: true })
      .toColourspace('rgb16')
      .png({ progressive: true })
      .toBuffer(),
    'one pixel': await picture({ width: 1, height: 1 }).png().toBuffer(),
    'several windows long': await picture({ width: 500, height: 400 }).png().toBuffer(),
    'wide gamut': await picture().withIccProfile('p3').png().toBuffer(),
    'empty and many IDAT': inPieces(plain, 100),
    density: withPngChunks(
      pngOf(pngChunks(plain).filter(({ type }) => type !== 'pHYs')),
      'IDAT',
      pngChunk('pHYs', [0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1]),
    ),
    'colour chunks': withPngChunks(
      plain,
      'IDAT',
      pngChunk('gAMA', [0, 0, 0xb1, 0x8f]),
      pngChunk('cHRM', Buffer.alloc(32, 1)),
      pngChunk('sRGB', [0]),
      pngChunk('sBIT', [5, 6, 5]),
      pngChunk('bKGD', [0, 1, 0, 2, 0, 3]),
      pngChunk('tRNS', [0, 1, 0, 2, 0, 3]),
    ),
    'HDR chunks': withPngChunks(
      plain,
      'IDAT',
      pngChunk('cICP', [9, 16, 0, 1]),
      pngChunk('mDCV', Buffer.alloc(24, 1)),
      pngChunk('cLLI', Buffer.alloc(8, 1)),
    ),
  }
  const dirty: Record<string, Buffer> = {
    tEXt: withPngChunks(plain, 'IDAT', pngChunk('tEXt', 'Author\0SECRET author')),
    'tEXt after the picture': withPngChunks(plain, 'IEND', pngChunk('tEXt', 'Author\0SECRET author')),
    zTXt: withPngChunks(
      plain,
      'IDAT',
      pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync('SECRET comment')])),
    ),
    XMP: withPngChunks(plain, 'IDAT', xmpChunk(editorXmp())),
    tIME: withPngChunks(plain, 'IDAT', pngChunk('tIME', [7, 232, 5, 6, 7, 8, 9])),
    C2PA: withPngChunks(plain, 'IDAT', pngChunk('caBX', c2paManifest())),
    'unknown chunks': withPngChunks(palette, 'PLTE', pngChunk('prVt', 'SECRET'), pngChunk('iDOT', 'SECRET')),
    'a comment with a wrong checksum': brokenChecksum(
      withPngChunks(plain, 'IDAT', pngChunk('tEXt', 'Author\0SECRET')),
    ),
    'animation chunks without an animation': withPngChunks(plain, 'IEND', pngChunk('fdAT', 'SECRET')),
    'bytes after the end': Buffer.concat([plain, Buffer.from('SECRET')]),
    'Exif after the picture': withPngChunks(
      plain,
      'IEND',
      pngChunk('eXIf', cameraExif({ orientation: 6, location: false })),
    ),
    'Exif as JPEG has it': withPngChunks(
      plain,
      'IDAT',
      pngChunk(
        'eXIf',
        Buffer.concat([Buffer.from('Exif\0\0'), cameraExif({ orientation: 6, location: false })]),
      ),
    ),
    'density in Exif': withPngChunks(
      plain,
      'IDAT',
      pngChunk('eXIf', cameraExif({ density: 240, location: false })),
    ),
    "sharp's Exif": await picture().withMetadata({ orientation: 8, density: 150 }).png().toBuffer(),
    'a long comment': withPngChunks(alpha, 'IDAT', pngChunk('tEXt', `Author\0${'SECRET '.repeat(60_000)}`)),
  }
  const located: Record<string, Buffer> = {
    'XMP with a location': withPngChunks(plain, 'IDAT', xmpChunk(editorXmp(true))),
  }
  for (let orientation = 1; orientation <= 8; orientation++) {
    const exif = pngChunk('eXIf', cameraExif({ orientation }))
    located[`camera, orientation ${orientation}`] = withPngChunks(plain, 'IDAT', exif)
  }

  const pictures = await pages(3)
  const animated = apngOf(pictures)
  return [
    ...named(clean, { clean: true }),
    ...named(dirty, { clean: false }),
    ...named(located, { clean: false, located: true }),
    ...named(
      { animated, 'animated, picture apart': apngOf(pictures, { firstIsHidden: true }) },
      { clean: true, animated: true },
    ),
    ...named(
      { 'animated, with comments': withPngChunks(animated, 'fdAT', pngChunk('tEXt', 'Author\0SECRET')) },
      { clean: false, animated: true },
    ),
  ]
}

function xmpChunk(packet: Buffer): Chunk {
  return pngChunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1'), packet]))
}

/** A grey PNG with fewer bits than sharp can write. */
export function greyPng(bits: 1 | 2 | 4): Buffer {
  const [width, height] = [35, 20]
  const row = Math.ceil((width * bits) / 8)
  const rows = Buffer.alloc((1 + row) * height, 0x1b)
  for (let y = 0; y < height; y++) rows[y * (1 + row)] = 0
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header[8] = bits
  return pngOf([pngChunk('IHDR', header), pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND')])
}

function inPieces(file: Buffer, length: number): Buffer {
  return pngOf(
    pngChunks(file).flatMap((chunk) => {
      if (chunk.type !== 'IDAT') return [chunk]
      const pieces = [pngChunk('IDAT')]
      for (let at = 0; at < chunk.body.length; at += length) {
        pieces.push(pngChunk('IDAT', chunk.body.subarray(at, at + length)))
      }
      return pieces
    }),
  )
}

/** Damages the checksum of the first tEXt chunk. Decoders ignore an ancillary chunk with a wrong checksum. */
function brokenChecksum(file: Buffer): Buffer {
  const at = file.indexOf('tEXt')
  const broken = Buffer.from(file)
  broken[at + 4 + file.readUInt32BE(at - 4)]! ^= 1
  return broken
}

/** The chunks of frames of one pixel, at the end of an APNG. `data`: of each frame. */
export function onePixelFrames(count: number, data: Uint8Array): Chunk[] {
  return Array.from({ length: count }, (_, index) => {
    const control = Buffer.alloc(26)
    control.set(u32(2 * index, 1, 1))
    return [pngChunk('fcTL', control), pngChunk('fdAT', bytes(u32(2 * index + 1), data))]
  }).flat()
}
