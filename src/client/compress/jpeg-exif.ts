import { sourceOf } from '../../formats/image.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'

/** `base` with the Exif segment of `original`, which holds no more than the orientation once it was scrubbed. */
export async function withExifOf(base: Uint8Array, original: Uint8Array): Promise<Uint8Array> {
  const { segments } = await walkJpeg(sourceOf(original))
  const exif = segments.find(({ kind }) => kind === 'exif')
  if (!exif) return base
  // Exif stands first, right behind SOI (Exif 3.0, 4.5.4).
  const [before, at] = [2, exif.offset]
  const out = new Uint8Array(base.length + exif.length)
  out.set(base.subarray(0, before))
  out.set(original.subarray(at, at + exif.length), before)
  out.set(base.subarray(before), before + exif.length)
  return out
}
