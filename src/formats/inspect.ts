/** The entry point to `formats/`: identifies a file, validates it, and lists the parts to keep. */
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
 * Walks the whole file in linear time, holding a few windows in memory. `strip: false` keeps the file unchanged.
 * Throws `Refusal`: `unsupported-type` when the type is not accepted, `damaged-image` when the file is truncated,
 * inconsistent, empty of pixels, or exceeds the pixel limits.
 */
export function inspect(source: ByteSource, options?: { strip?: boolean }): Promise<Inspection> {
  return inspectWith((type) => INSPECTORS[type], source, options)
}
