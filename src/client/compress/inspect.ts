/** Like `formats/inspect.ts`, but loads each format except JPEG with the first file of its type. */
import type { ByteSource, Inspection, Inspector } from '../../formats/image.ts'
import { inspectWith } from '../../formats/inspect-with.ts'
import { inspectJpeg } from '../../formats/jpeg/jpeg.ts'
import type { ImageType } from '../../protocol.ts'
import { loaded } from './load-fault.ts'

const INSPECTORS: Record<ImageType, () => Promise<Inspector>> = {
  'image/jpeg': async () => inspectJpeg,
  'image/png': async () => (await loaded(import('../../formats/png/png.ts'))).inspectPng,
  'image/gif': async () => (await loaded(import('../../formats/gif.ts'))).inspectGif,
  'image/webp': async () => (await loaded(import('../../formats/webp/webp.ts'))).inspectWebp,
  'image/avif': async () => (await loaded(import('../../formats/avif/avif.ts'))).inspectAvif,
}

/** Rejects with a `Refusal`, as the service would (`unsupported-type` or `damaged-image`), or with a `LoadFault`. */
export function inspect(source: ByteSource): Promise<Inspection> {
  return inspectWith((type) => INSPECTORS[type](), source)
}
