/** GIF and WebP files, still and animated, with and without private metadata. */
import { type Chunk, extendedWebp, webpBody, webpChunks, webpOf } from '../chunks.ts'
import { frames, type MadeImage, naming, picture } from './pictures.ts'
import { c2paManifest, cameraExif, editorXmp } from './private-metadata.ts'

export async function gifs(): Promise<MadeImage[]> {
  const still = await picture().gif().toBuffer()
  const named = naming('GIF', 'image/gif')
  // A GIF is stored byte for byte, whatever is in it.
  const clean = true
  return [
    ...named(
      {
        still,
        'two colours': await picture().gif({ colours: 2 }).toBuffer(),
        interlaced: await picture().gif({ progressive: true }).toBuffer(),
        'with transparency': await picture({ channels: 4 }).gif().toBuffer(),
        'several windows long': await picture({ width: 900, height: 700 }).gif({ effort: 1 }).toBuffer(),
        'with a comment': withGifBlock(still, Buffer.from('!\xfe\x06SECRET\0', 'latin1')),
        'with bytes after the end': Buffer.concat([still, Buffer.from('SECRET')]),
        'a block that ends twice': Buffer.concat([still.subarray(0, -1), Buffer.from([0, 0x3b])]),
      },
      { clean },
    ),
    ...named({ 'with a location': withGifBlock(still, xmpBlock(editorXmp(true))) }, { clean, located: true }),
    ...named(
      {
        animated: await (await frames(4)).gif({ loop: 3, delay: [50, 60, 70, 80] }).toBuffer(),
        'animated, colours of its own each': await (await frames(3))
          .gif({ interPaletteMaxError: 0 })
          .toBuffer(),
      },
      { clean, animated: true },
    ),
  ]
}

/** Inserts a block before the trailer. */
function withGifBlock(file: Buffer, block: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, -1), block, file.subarray(-1)])
}

/** XMP is stored without sub-blocks. 256 bytes that count down lead every sub-block reader to its end (XMP part 3, 1.1.2). */
function xmpBlock(packet: Buffer): Buffer {
  const trailer = Buffer.from([1, ...Array.from({ length: 256 }, (_, index) => 255 - index), 0])
  return Buffer.concat([Buffer.from('!\xff\x0bXMP DataXMP', 'latin1'), packet, trailer])
}

const [WITH_PROFILE, WITH_ALPHA, WITH_EXIF, WITH_XMP] = [0x20, 0x10, 0x08, 0x04]
const SIZE = { width: 53, height: 37 }

export async function webps(): Promise<MadeImage[]> {
  const named = naming('WebP', 'image/webp')
  const still = await picture().webp().toBuffer()
  const alpha = await picture({ channels: 4 }).webp().toBuffer()
  const lossless = await picture({ channels: 4 }).webp({ lossless: true }).toBuffer()
  const animated = await (await frames(4)).webp({ loop: 3, delay: [50, 60, 70, 80] }).toBuffer()
  const chunk = (type: string, body: Uint8Array): Chunk => ({ type, body: Buffer.from(body) })
  const extended = (flags: number, ...more: Chunk[]) => webpOf([...extendedWebp(still, SIZE, flags), ...more])
  const unknown = chunk('PRVT', Buffer.from('SECRET!'))

  const clean: Record<string, Buffer> = {
    lossy: still,
    'lossy with alpha': alpha,
    lossless,
    'lossless, opaque': await picture().webp({ lossless: true }).toBuffer(),
    'near lossless': await picture().webp({ nearLossless: true }).toBuffer(),
    'one pixel': await picture({ width: 1, height: 1 }).webp().toBuffer(),
    'several windows long': await picture({ width: 700, height: 500 })
      .webp({ lossless: true, effort: 0 })
      .toBuffer(),
    'wide gamut': await picture().withIccProfile('p3').webp().toBuffer(),
    'wide gamut with alpha': await picture({ channels: 4 }).withIccProfile('p3').webp().toBuffer(),
    'extended for nothing': extended(0),
  }
  const dirty: Record<string, Buffer> = {
    XMP: extended(WITH_XMP, chunk('XMP ', editorXmp())),
    'Exif without orientation': extended(WITH_EXIF, chunk('EXIF', cameraExif({ location: false }))),
    "sharp's Exif": await picture({ channels: 4 })
      .withMetadata({ orientation: 3, density: 150 })
      .webp()
      .toBuffer(),
    'Exif that no flag announces': extended(
      0,
      chunk('EXIF', cameraExif({ orientation: 6, location: false })),
    ),
    'unknown chunks': extended(0, unknown, chunk('C2PA', c2paManifest())),
    'chunks after a bare picture': webpOf([...webpChunks(still), unknown]),
    'bytes after the end': Buffer.concat([still, Buffer.from('SECRET')]),
    everything: webpOf([
      ...extendedWebp(
        await picture({ channels: 4 }).withIccProfile('p3').webp().toBuffer(),
        SIZE,
        WITH_PROFILE | WITH_ALPHA | WITH_EXIF | WITH_XMP,
      ),
      unknown,
      chunk('EXIF', cameraExif({ orientation: 3, density: 300, location: false })),
      chunk('XMP ', editorXmp()),
    ]),
  }
  const located: Record<string, Buffer> = {
    'XMP with a location': extended(WITH_XMP, chunk('XMP ', editorXmp(true))),
    'Exif as JPEG has it': extended(
      WITH_EXIF,
      chunk('EXIF', Buffer.concat([Buffer.from('Exif\0\0'), cameraExif({ orientation: 2 })])),
    ),
  }
  for (let orientation = 1; orientation <= 8; orientation++) {
    const exif = chunk('EXIF', cameraExif({ orientation, density: 72 }))
    located[`camera, orientation ${orientation}`] = extended(WITH_EXIF, exif)
  }
  const moving: Record<string, Buffer> = {
    animated,
    'animated, lossless': await (await frames(3)).webp({ lossless: true }).toBuffer(),
    'animated, opaque': await (await frames(3, { channels: 3 })).webp().toBuffer(),
  }
  return [
    ...named(clean, { clean: true }),
    ...named(dirty, { clean: false }),
    ...named(located, { clean: false, located: true }),
    ...named(moving, { clean: true, animated: true }),
    ...named(
      {
        'animated, with metadata': withFlags(
          webpOf([
            ...webpChunks(animated),
            chunk('EXIF', cameraExif({ orientation: 1, location: false })),
            unknown,
          ]),
          WITH_EXIF,
        ),
        'animated, with chunks inside': webpOf(
          webpChunks(animated).map(({ type, body }) =>
            type === 'ANMF' ? chunk(type, Buffer.concat([body, webpBody([unknown])])) : { type, body },
          ),
        ),
      },
      { clean: false, animated: true },
    ),
  ]
}

/** Sets flags of VP8X, the first chunk. */
function withFlags(file: Buffer, flags: number): Buffer {
  const changed = Buffer.from(file)
  changed[20]! |= flags
  return changed
}
