/**
 * `node test/corpus/make.ts` regenerates the images in this folder. Requires exiftool, for metadata as real programs write it.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { apngOf } from '../support/chunks.ts'
import { appleHdr } from '../support/images/apple-hdr.ts'
import { codeJpeg } from '../support/images/jpeg-coder.ts'
import { frames, picture } from '../support/images/pictures.ts'
import { ultraHdr } from '../support/images/ultra-hdr.ts'

/** A landscape with grain, with smooth and with sharp areas. */
function scene(width: number, height: number): Sharp {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 300 200">
    <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#2b5fa8"/><stop offset="1" stop-color="#f4c88a"/>
    </linearGradient></defs><rect width="300" height="200" fill="url(#sky)"/><circle cx="220" cy="60" r="22" fill="#fff3c4"/>
    <path d="M0 150Q80 90 150 140T300 120V200H0Z" fill="#3f6b3a"/><path d="M0 175Q120 130 300 170V200H0Z" fill="#23402a"/>
    </svg>`
  const grain = {
    width,
    height,
    channels: 3 as const,
    background: '#808080',
    noise: { type: 'gaussian' as const, mean: 128, sigma: 9 },
  }
  return sharp(Buffer.from(drawing))
    .removeAlpha()
    .composite([{ input: { create: grain }, blend: 'soft-light' }])
}

const PRIVATE = [
  '-GPSLatitude=48.2082',
  '-GPSLatitudeRef=N',
  '-GPSLongitude=16.3738',
  '-GPSLongitudeRef=E',
  '-Make=SECRET maker',
  '-Model=SECRET model',
  '-SerialNumber=SECRET serial',
  '-Artist=SECRET person',
  '-DateTimeOriginal=2026:05:06 07:08:09',
  '-XMP-dc:Creator=SECRET person',
  '-XMP-photoshop:City=SECRET city',
]

function write(name: string, bytes: Uint8Array, tags: string[] = []): void {
  const path = join(import.meta.dirname, name)
  writeFileSync(path, bytes)
  if (tags.length > 0) execFileSync('exiftool', ['-q', '-overwrite_original', ...tags, path])
}

const still = await scene(480, 320).png().toBuffer()
const photo = () => sharp(still)
const map = await photo().resize(120, 80).greyscale().negate().toColourspace('b-w').jpeg().toBuffer()

write('camera.jpg', await photo().jpeg({ quality: 88 }).toBuffer(), [
  ...PRIVATE,
  '-IPTC:By-line=SECRET',
  '-Comment=SECRET',
])
write('turned.jpg', await photo().rotate(90).jpeg({ quality: 85 }).toBuffer(), [
  ...PRIVATE,
  '-Orientation#=6',
])
write(
  'progressive-p3.jpg',
  await photo().withIccProfile('p3').jpeg({ progressive: true }).toBuffer(),
  PRIVATE,
)
write('mozjpeg-444.jpg', await photo().jpeg({ mozjpeg: true, chromaSubsampling: '4:4:4' }).toBuffer())
write('grey.jpg', await photo().greyscale().toColourspace('b-w').jpeg().toBuffer(), ['-Comment=SECRET'])
write('cmyk.jpg', await photo().resize(150).toColourspace('cmyk').jpeg().toBuffer())
write(
  'restarts.jpg',
  codeJpeg({
    width: 200,
    height: 150,
    sampling: '2x2,1x1,1x1',
    restartInterval: 4,
  }),
)
const first = await photo().jpeg({ quality: 85 }).toBuffer()
// Saved at a high quality, like on phones, so that compression still has something to gain.
write('gain-map.jpg', ultraHdr({ first: await photo().jpeg({ quality: 95 }).toBuffer(), second: map }))
write('apple-gain-map.jpg', appleHdr({ first, second: map, orientation: 6 }))
write('truncated.jpg', first.subarray(0, 9000))

write('screen.png', await photo().resize(240).png({ compressionLevel: 9 }).toBuffer(), [
  '-Title=SECRET',
  ...PRIVATE,
])
write('palette.png', await photo().resize(200).png({ palette: true, colours: 32 }).toBuffer())
write(
  'grey-alpha-16-bit.png',
  await picture({ width: 60, height: 40, channels: 2, deep: true }).png().toBuffer(),
)
write(
  'interlaced-p3.png',
  await photo().resize(120).withIccProfile('p3').png({ progressive: true }).toBuffer(),
)
const pages = await Promise.all([1, 2, 3].map((seed) => picture({ seed, channels: 4 }).png().toBuffer()))
write('animated.png', apngOf(pages))
write('truncated.png', still.subarray(0, 9000))

write('drawing.gif', await photo().resize(200).gif().toBuffer())
write('animated.gif', await (await frames(4)).gif({ loop: 3, delay: [50, 60, 70, 80] }).toBuffer())

write('lossy.webp', await photo().webp().toBuffer(), PRIVATE)
write('lossless-alpha.webp', await photo().resize(150).ensureAlpha(0.6).webp({ lossless: true }).toBuffer())
write('animated.webp', await (await frames(4)).webp({ loop: 3 }).toBuffer())

write('camera.avif', await photo().avif({ quality: 60, effort: 2 }).toBuffer(), PRIVATE)
write('alpha.avif', await photo().resize(150).ensureAlpha(0.6).avif({ effort: 2 }).toBuffer())
write(
  'deep-444.avif',
  await photo().resize(200).avif({ bitdepth: 10, chromaSubsampling: '4:4:4', effort: 2 }).toBuffer(),
)
