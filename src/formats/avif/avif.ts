/** AVIF (AOMedia, version 1.2): AV1 images and image sequences in a HEIF file. */

import type { Edit } from '../bmff/edits.ts'
import { refuse } from '../bmff/fields.ts'
import { boxFileOf } from '../bmff/file.ts'
import { concatenated, overlap, runsOf, sortedByStart } from '../bmff/runs.ts'
import type { Work } from '../bytes/work.ts'
import { checkAnimation, checkDimensions } from '../damaged.ts'
import type { Inspector } from '../image.ts'
import { checkCodedData, checkImages, checkPicture } from './images.ts'
import { keptItems } from './kept-items.ts'
import { layoutOf } from './layout.ts'
import { displayedSize, type Item, readMeta } from './meta.ts'
import { type ObuWalk, obuWalk } from './obus.ts'
import { detectLocation } from './position.ts'
import { type Avif, scrubbed } from './scrub.ts'
import { readMovie, type Track } from './tracks.ts'

/**
 * Reads all metadata, but only the unit headers of image data. Also throws `Refusal('unsupported-type')` for a HEIF file whose
 * image is not coded in AV1.
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

  // A single list for the whole file, so that its size limit applies to the whole file.
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
    hasLocation: await detectLocation(file, layout.boxes, meta, tracks),
    segments: await scrubbed(file, avif, edits),
  }
}

/** Throws unless every sample is complete and viewers can paint them all. `walk` collects the edits of their data. */
async function checkTracks(tracks: Track[], walk: ObuWalk, work: Work): Promise<void> {
  const all = sortedByStart(concatenated(tracks.map(({ samples }) => samples)))
  if (work.spend(all.length / 16)) await work.yield()
  if (overlap(all)) refuse('its frames overlap')
  if (work.spend(all.length / 16)) await work.yield()
  let maxFrames = 0
  // Only the first sample of a track must contain the sequence header.
  for (const { samples, frames, sequence, width, height } of tracks) {
    checkDimensions(width, height)
    checkAnimation(width, height, frames)
    maxFrames = Math.max(maxFrames, frames)
    for (const first of runsOf(samples.subarray(0, 2))) {
      const { maxWidth, maxHeight } = checkCodedData(await walk([first]), sequence)
      checkAnimation(maxWidth, maxHeight, frames)
    }
  }
  // In file order, so that neighbouring samples share a read.
  let last = -1
  for (const sample of runsOf(all)) {
    if (work.spend(1)) await work.yield()
    // Samples may share data.
    if (sample.start === last) continue
    last = sample.start
    const data = await walk([sample])
    checkPicture(data)
    if (data.sequence) checkAnimation(data.sequence.maxWidth, data.sequence.maxHeight, maxFrames)
  }
}

/**
 * Size of the primary image, or else of the image sequence: that in the track header, as browsers ignore the
 * transformation matrix in it.
 */
function displayedSizeOf({ meta, kept, movie }: Avif): { width: number; height: number } {
  const image = meta?.primary != null ? kept.get(meta.primary) : undefined
  if (image) return displayedSize(image)
  const track = movie?.tracks.find(({ frames }) => frames > 0)
  return track ? { width: track.width, height: track.height } : refuse('it holds no picture')
}
