/** The way into `formats/`: what is this file, is it whole, and what of it is kept? */
import { Refusal } from '../errors.ts'
import type { ImageType } from '../protocol.ts'
import { inspectAvif } from './avif.ts'
import { checkDimensions } from './damaged.ts'
import { inspectGif } from './gif.ts'
import { type ByteSource, type Inspection, type Inspector, WINDOW_BYTES, wholeOf } from './image.ts'
import { inspectJpeg } from './jpeg.ts'
import { inspectPng } from './png.ts'
import { nameOfOther, sniff } from './sniff.ts'
import { inspectWebp } from './webp.ts'

const INSPECTORS: Record<ImageType, Inspector> = {
  'image/jpeg': inspectJpeg,
  'image/png': inspectPng,
  'image/gif': inspectGif,
  'image/webp': inspectWebp,
  'image/avif': inspectAvif,
}

const ACCEPTED = 'JPEG, PNG, GIF, WebP or AVIF'

/**
 * Walks the whole file, in time linear in its size and memory of a few windows. `strip: false` keeps it as it came.
 * Throws `Refusal`: `unsupported-type` if it is none of the accepted types, `damaged-image` if it is cut off,
 * inconsistent, without pixels, or too large a picture.
 */
export async function inspect(source: ByteSource, options: { strip?: boolean } = {}): Promise<Inspection> {
  const head = await source.read(0, Math.min(WINDOW_BYTES, source.size))
  const type = sniff(head)
  if (!type) {
    const name = nameOfOther(head)
    throw new Refusal(
      'unsupported-type',
      `${name ? `This is ${name}` : 'This is no image of a known type'}. Accepted are ${ACCEPTED}.`,
    )
  }
  const inspection = await INSPECTORS[type](remembering(source, head))
  checkDimensions(inspection.width, inspection.height)
  return options.strip === false ? { ...inspection, segments: wholeOf(source) } : inspection
}

/** The same source, with its first window in hand: most files are no longer than that, and are read once. */
function remembering(source: ByteSource, head: Uint8Array): ByteSource {
  return {
    size: source.size,
    read: async (offset, length) =>
      Math.min(offset + length, source.size) <= head.length
        ? head.subarray(offset, offset + length)
        : source.read(offset, length),
  }
}
