/** The way into `formats/`: what is this file, is it whole, and what of it is kept? */
import type { ImageType } from '../protocol.ts'
import { inspectAvif } from './avif/avif.ts'
import { inspectGif } from './gif.ts'
import type { ByteSource, Inspection, Inspector } from './image.ts'
import { inspectWith } from './inspect-with.ts'
import { inspectJpeg } from './jpeg/jpeg.ts'
import { inspectPng } from './png/png.ts'
import { inspectWebp } from './webp/webp.ts'

const INSPECTORS: Record<ImageType, Inspector> = {
  'image/jpeg': inspectJpeg,
  'image/png': inspectPng,
  'image/gif': inspectGif,
  'image/webp': inspectWebp,
  'image/avif': inspectAvif,
}

/**
 * Walks the whole file, in time linear in its size and memory of a few windows. `strip: false` keeps it as it came.
 * Throws `Refusal`: `unsupported-type` if it is none of the accepted types, `damaged-image` if it is cut off,
 * inconsistent, without pixels, or too large a picture.
 */
export function inspect(source: ByteSource, options?: { strip?: boolean }): Promise<Inspection> {
  return inspectWith((type) => INSPECTORS[type], source, options)
}
