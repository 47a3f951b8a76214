/**
 * Removes private data from an AVIF file. Kept image bytes do not move: private data before the last of them is zeroed, and
 * after it, cut out.
 */

import { addBlank, addEdit, addZeros, applyEdits, cut, type Edit, isEmpty, resize } from '../bmff/edits.ts'
import { type Box, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { concatenated, overlap, type Runs, sortedByStart, union, unused } from '../bmff/runs.ts'
import type { Segment } from '../image.ts'
import type { AvifLayout } from './layout.ts'
import type { Item, Meta } from './meta.ts'
import { metaEdits } from './meta-edits.ts'
import { movieEdits } from './track-edits.ts'
import type { Movie } from './tracks.ts'

export interface Avif {
  layout: AvifLayout
  /** `null` when there are no items. */
  meta: Meta | null
  kept: Map<number, Item>
  /** `null` when there is no track to keep. */
  movie: Movie | null
}

/** Throws `Refusal('damaged-image')` when image data lies outside the regions for it. */
export async function scrubbed(
  file: BoxFile,
  { layout, meta, kept, movie }: Avif,
  dataEdits: Edit[],
): Promise<Segment[]> {
  // An identity derivation has no data of its own (23008-12, 6.6.2.1).
  const itemsWithData = [...kept.values()].filter(({ type }) => type !== 'iden')
  const inFile = runsOfItems(itemsWithData.filter(({ addressedEnd }) => addressedEnd > 0))
  const inIdat = runsOfItems(itemsWithData.filter(({ addressedEnd }) => addressedEnd === 0))
  const { work } = file.cursor
  const all = concatenated([inFile, ...(movie?.tracks.map(({ samples }) => samples) ?? [])])
  if (work.spend(all.length / 16)) await work.yield()
  // Edits of one image's data must not change the data of another.
  if (dataEdits.length > 0 && overlap(sortedByStart(concatenated([all, inIdat]))))
    refuse('its boxes or images overlap')
  const used = union(all)
  // `idat` moves when entries before it are cut out, so data addressed by file offset must not lie in it.
  const idat = meta?.idat ? [{ start: meta.idat.body, end: meta.idat.end, box: null }] : []
  function* gaps(): Generator<{ region: { box: Box | null }; gap: Run }> {
    yield* unused(layout.data, used)
    yield* unused(idat, union(inIdat))
  }

  // Data of removed items, and unreferenced bytes, e.g. the Exif of an earlier save.
  const edits: Edit[] = []
  const addressedEnd = endOfAddressedBytes(kept, movie)
  const usedBoxes = boxesInUse(layout, used, meta, movie)
  for (const { region, gap } of gaps()) {
    const { box } = region
    const isUsed = box !== null && usedBoxes.has(box)
    // An unused box after `addressedEnd` is cut out below. One before it keeps its size and is zeroed.
    if (box && !isUsed && box.start >= addressedEnd) continue
    const end = isUsed ? Math.min(gap.end, Math.max(gap.start, addressedEnd)) : gap.end
    const before = { start: gap.start, end }
    if (!(await isZeroRun(file, before))) addZeros(edits, before)
    if (!isUsed || end === gap.end) continue
    // No used bytes follow in this box, so truncate it.
    addEdit(edits, cut({ start: end, end: gap.end }))
    addEdit(edits, resize(box, box.end - box.start - (gap.end - end)))
  }
  const trackIds = new Set(movie?.tracks.map(({ id }) => id))
  const metadataEdits = [
    meta ? await metaEdits(file, meta, kept, trackIds, meta.box.start >= addressedEnd) : [],
    movie ? movieEdits(movie, movie.box.start >= addressedEnd) : [],
  ]
  const end = await removeUnusedBoxes(edits, file, layout, usedBoxes, addressedEnd)
  return applyEdits([layout.edits, edits, distinct(dataEdits), ...metadataEdits].flat(), end)
}

/** End of the last byte that is addressed by file offset. Everything after it may move. */
function endOfAddressedBytes(kept: Map<number, Item>, movie: Movie | null): number {
  let addressedEnd = 0
  for (const item of kept.values()) addressedEnd = Math.max(addressedEnd, item.addressedEnd)
  for (const { samples } of movie?.tracks ?? []) {
    for (let at = 1; at < samples.length; at += 2) addressedEnd = Math.max(addressedEnd, samples[at]!)
  }
  return addressedEnd
}

function runsOfItems(items: Item[]): Runs {
  return Float64Array.from(
    items.flatMap(({ extents }) => extents ?? []).flatMap(({ start, end }) => [start, end]),
  )
}

/** Removes duplicates: items and samples may share data, and thus edits. */
function distinct(edits: Edit[]): Edit[] {
  return [...new Map(edits.map((edit) => [edit.start, edit])).values()]
}

/** The top-level boxes that contain kept data or metadata. */
function boxesInUse(layout: AvifLayout, used: Runs, meta: Meta | null, movie: Movie | null): Set<Box> {
  const usedBoxes = new Set<Box>(layout.boxes.slice(0, 1))
  if (meta) usedBoxes.add(meta.box)
  if (movie) usedBoxes.add(movie.box)
  let next = 0
  for (const { box } of layout.data) {
    while (next < used.length && used[next]! < box.body) next += 2
    if (next < used.length && used[next]! < box.end) usedBoxes.add(box)
  }
  return usedBoxes
}

/** Blanks the unused boxes before `addressedEnd`, and cuts out those after it. Returns the end of the file. */
async function removeUnusedBoxes(
  edits: Edit[],
  file: BoxFile,
  { boxes, data }: AvifLayout,
  usedBoxes: Set<Box>,
  addressedEnd: number,
): Promise<number> {
  const last = boxes.findLastIndex((box) => usedBoxes.has(box))
  const end = boxes[last]?.end ?? 0
  if (addressedEnd > end) refuse('image data lies outside mdat, imda and idat')
  // Data boxes were already zeroed as gaps.
  const zeroed = new Set(data.map(({ box }) => box))
  for (const box of boxes.slice(0, last)) {
    if (usedBoxes.has(box)) continue
    if (box.start >= addressedEnd) addEdit(edits, cut(box))
    else if (!zeroed.has(box) && !(await isEmpty(file, box))) addBlank(edits, box)
  }
  return end
}
