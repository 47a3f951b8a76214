import { sourceOf } from '../../formats/image.ts'
import { SOS } from '../../formats/jpeg/segments.ts'
import { walkJpeg } from '../../formats/jpeg/walk.ts'

/**
 * The share of colour in what a progressive JPEG spends on brightness and colour for themselves, 0 to 1. Throws
 * `Refusal('damaged-image')`.
 */
export async function colourShareOf(jpeg: Uint8Array): Promise<number> {
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
  return colour === 0 ? 0 : colour / (brightness + colour)
}
