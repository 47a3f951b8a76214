/** Decodes pictures in a separate process, which may crash: takes bytes, returns hashes of all frames in all orientations. */
import sharp from 'sharp'
import { pdq } from './pdq.mjs'

/** Scales down larger pictures, like PDQ's reference programs. */
const MAX_SIDE = 512

/** Frames of an animation, evenly spaced. */
const MAX_FRAMES = 8

/** In APNG and AVIF sequences, of which sharp decodes only a still picture. One in 4,000 other files of a megabyte has it by chance. */
const ANIMATION = { png: 'acTL', heif: 'moov' }

sharp.cache(false)
sharp.concurrency(1)

async function hashesOf(bytes) {
  const { format, pages = 1, width, height, pageHeight = height } = await sharp(bytes).metadata()
  const animation = ANIMATION[format]
  if (animation && bytes.includes(animation)) throw new Error('it may be an animation')
  const isLarge = Math.max(width, pageHeight) > MAX_SIDE
  const frames = Math.min(pages, MAX_FRAMES)
  const own = new Set()
  const turned = new Set()
  for (let index = 0; index < frames; index++) {
    const image = sharp(bytes, { page: Math.floor((index * pages) / frames) }).rotate()
    // Scaled while decoding, so that a large picture is never in memory completely.
    const scaled = isLarge ? image.resize(MAX_SIDE, MAX_SIDE, { fit: 'fill' }) : image
    const { data, info } = await scaled
      // As a page shows it: the alpha channel alone can draw a picture, in black or white.
      .flatten({ background: '#808080' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    const found = pdq(lumaOf(data, info), info.width, info.height)
    if (found.quality < 50) continue
    own.add(found.hashes[0])
    for (const hash of found.hashes) turned.add(hash)
  }
  return { own: [...own], turned: [...turned] }
}

function lumaOf(data, { width, height, channels }) {
  const luma = new Float64Array(width * height)
  for (let at = 0; at < luma.length; at++) {
    const [r, g = r, b = r] = data.subarray(at * channels, at * channels + Math.min(3, channels))
    luma[at] = channels < 3 ? r : 0.299 * r + 0.587 * g + 0.114 * b
  }
  return luma
}

process.on('message', async (bytes) => {
  try {
    process.send(await hashesOf(Buffer.from(bytes)))
  } catch (error) {
    process.send({ error: String(error.message).slice(0, 200) })
  }
})
// The parent process is gone.
process.on('disconnect', () => process.exit(0))
