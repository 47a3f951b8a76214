/** AVIF (AOMedia, version 1.2): AV1 images and image sequences in a HEIF file. */

import { refuse } from '../bmff/fields.ts'
import { metered } from '../bmff/file.ts'
import { checkDimensions } from '../damaged.ts'
import type { Inspector } from '../image.ts'
import { displayedSize } from './display.ts'
import { checkCodedData, checkImages } from './images.ts'
import { keptItems } from './kept-items.ts'
import { layoutOf } from './layout.ts'
import { readMeta } from './meta.ts'
import { type ObuWalk, obuWalk } from './obus.ts'
import { namesPlace } from './position.ts'
import { type Avif, scrubbed } from './scrub.ts'
import { readMovie, type Track } from './tracks.ts'

export { isAvif } from './brands.ts'

/**
 * Reads descriptions whole, and of the image data no more than the headers of its units. Throws also
 * `Refusal('unsupported-type')` for a HEIF file whose picture is not AV1.
 */
export const inspectAvif: Inspector = async (whole) => {
  const source = metered(whole)
  const layout = await layoutOf(source)
  const meta = layout.meta && (await readMeta(source, layout.meta))
  const tracks = layout.moov && (await readMovie(source, layout.moov))
  const movie = tracks?.tracks.length ? tracks : null
  const kept = meta ? keptItems(meta) : new Map()
  const avif: Avif = { layout, meta, kept, movie }

  const walk = obuWalk(source)
  if (meta) await checkImages(source, meta, kept.values(), walk)
  for (const track of movie?.tracks ?? []) await checkTrack(track, walk)
  const size = displayedSizeOf(avif)
  checkDimensions(size.width, size.height)
  return {
    type: 'image/avif',
    ...size,
    animated: movie?.tracks.some(({ samples }) => samples.length > 1) ?? false,
    hasLocation: await namesPlace(source, layout.boxes, meta, tracks),
    segments: await scrubbed(source, avif),
  }
}

async function checkTrack({ samples, settings, width, height }: Track, walk: ObuWalk): Promise<void> {
  checkDimensions(width, height)
  for (const [index, sample] of samples.entries()) {
    const data = await walk([sample])
    // Only the first sample must bring the sequence header.
    checkCodedData(data, index === 0 ? settings : { hasUnits: true })
  }
}

/**
 * Of the primary image, or of a sequence without one. Viewers show a sequence as large as its track says, and do
 * not turn it by the matrix that stands beside.
 */
function displayedSizeOf({ meta, kept, movie }: Avif): { width: number; height: number } {
  const image = meta?.primary != null ? kept.get(meta.primary) : undefined
  if (image) return displayedSize(image)
  const track = movie?.tracks.find(({ samples }) => samples.length > 0)
  return track ? { width: track.width, height: track.height } : refuse('it holds no picture')
}
