import { sourceOf } from '../../formats/image.ts'
import { SOS } from '../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'
import type { JpegSpending } from './plan.ts'

/** What a progressive JPEG spends its bytes on. Throws `Refusal('damaged-image')`. */
export async function spendingOf(jpeg: Uint8Array): Promise<JpegSpending> {
  const { segments, frame } = await walkJpeg(sourceOf(jpeg))
  const [luma] = frame.components
  let brightness = 0
  let colour = 0
  for (const { marker, offset, length } of segments) {
    // Scans of one component: all but the rough values, which come for all components in one (T.81, B.2.3).
    if (marker !== SOS || jpeg[offset + 4] !== 1) continue
    if (jpeg[offset + 5] === luma!.id) brightness += length
    else colour += length
  }
  return {
    colourShare: colour === 0 ? 0 : colour / (brightness + colour),
    bitsPerPixel: (8 * jpeg.length) / (frame.width * frame.height),
  }
}
