/** JPEG: inspected as a whole file, gain map included. */

import { keptRuns } from '../bytes/kept-runs.ts'
import type { Inspector } from '../image.ts'
import { swapsSides } from '../metadata/exif.ts'
import { xmpHasLocation } from '../metadata/xmp.ts'
import { findGainMap, scrubWithGainMap } from './gain-map.ts'
import { scrubJpeg } from './scrub.ts'
import { walkJpeg } from './walk.ts'

export const inspectJpeg: Inspector = async (source) => {
  const first = await walkJpeg(source)
  const gainMap = await findGainMap(source, first)
  const kept = keptRuns()
  const parts = gainMap ? Object.values(scrubWithGainMap(first, gainMap)) : [scrubJpeg(first)]
  for (const part of parts) kept.append(part)
  const sideways = swapsSides(first.exif.orientation)
  return {
    type: 'image/jpeg',
    width: sideways ? first.frame.height : first.frame.width,
    height: sideways ? first.frame.width : first.frame.height,
    animated: false,
    hasLocation: first.exif.hasLocation || xmpHasLocation(first.xmp),
    segments: kept.segments,
  }
}
