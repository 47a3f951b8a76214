/** AVIF (AOMedia, version 1.2): AV1 images and image sequences in a HEIF file. */

import type { Edit } from '../bmff/edits.ts'
import { refuse } from '../bmff/fields.ts'
import { boxFileOf } from '../bmff/file.ts'
import { concatenated, inOrder, overlap, runsOf } from '../bmff/runs.ts'
import type { Work } from '../bytes/work.ts'
import { checkAnimation, checkDimensions } from '../damaged.ts'
import type { Inspector } from '../image.ts'
import { checkCodedData, checkImages, checkPicture } from './images.ts'
import { keptItems } from './kept-items.ts'
import { layoutOf } from './layout.ts'
import { displayedSize, type Item, readMeta } from './meta.ts'
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
  const file = boxFileOf(whole)
  const { work } = file.cursor
  const layout = await layoutOf(file)
  const meta = layout.meta && (await readMeta(file, layout.meta))
  const tracks = layout.moov && (await readMovie(file, layout.moov))
  const movie = tracks?.tracks.length ? tracks : null
  const kept: Map<number, Item> = meta ? keptItems(meta) : new Map()
  const avif: Avif = { layout, meta, kept, movie }

  // One list for the whole file: it is refused where that grows too long.
  const edits: Edit[] = []
  const walk = obuWalk(file, edits)
  if (meta) await checkImages(file, meta, kept, walk, edits)
  if (movie) await checkTracks(movie.tracks, walk, work)
  const size = displayedSizeOf(avif)
  checkDimensions(size.width, size.height)
  return {
    type: 'image/avif',
    ...size,
    animated: movie?.tracks.some(({ frames }) => frames > 1) ?? false,
    hasLocation: await namesPlace(file, layout.boxes, meta, tracks),
    segments: await scrubbed(file, avif, edits),
  }
}

/** Throws unless every sample is whole, and a viewer can paint them all. `walk` notes what has to go of their data. */
async function checkTracks(tracks: Track[], walk: ObuWalk, work: Work): Promise<void> {
  const all = inOrder(concatenated(tracks.map(({ samples }) => samples)))
  if (work.spend(all.length / 16)) await work.turn()
  if (overlap(all)) refuse('its frames overlap')
  if (work.spend(all.length / 16)) await work.turn()
  let maxFrames = 0
  // Only the first sample of a track must bring the sequence header.
  for (const { samples, frames, sequence, width, height } of tracks) {
    checkDimensions(width, height)
    checkAnimation(width, height, frames)
    maxFrames = Math.max(maxFrames, frames)
    for (const first of runsOf(samples.subarray(0, 2))) {
      const { maxWidth, maxHeight } = checkCodedData(await walk([first]), sequence)
      checkAnimation(maxWidth, maxHeight, frames)
    }
  }
  // In order of place, so that one read serves neighbours.
  let last = -1
  for (const sample of runsOf(all)) {
    if (work.spend(1)) await work.turn()
    // Equal data may be written once.
    if (sample.start === last) continue
    last = sample.start
    const data = await walk([sample])
    checkPicture(data)
    if (data.sequence) checkAnimation(data.sequence.maxWidth, data.sequence.maxHeight, maxFrames)
  }
}

/**
 * Size of the primary image, or of a sequence without one. Viewers show a sequence as large as its track says, and do
 * not turn it by the matrix that stands beside.
 */
function displayedSizeOf({ meta, kept, movie }: Avif): { width: number; height: number } {
  const image = meta?.primary != null ? kept.get(meta.primary) : undefined
  if (image) return displayedSize(image)
  const track = movie?.tracks.find(({ frames }) => frames > 0)
  return track ? { width: track.width, height: track.height } : refuse('it holds no picture')
}
