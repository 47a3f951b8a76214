/**
 * What is left of an AVIF file without what is private. Every image byte that is kept stays where it was: what stood before
 * it becomes zeros, and what stood behind the last of them is cut off.
 */

import { addInto, blankInto, cut, type Edit, edited, isEmpty, resize, zeroInto } from '../bmff/edits.ts'
import { type Box, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { concatenated, inOrder, overlap, type Runs, union, unused } from '../bmff/runs.ts'
import type { Segment } from '../image.ts'
import type { AvifLayout } from './layout.ts'
import type { Item, Meta } from './meta.ts'
import { metaEdits } from './meta-edits.ts'
import { movieEdits } from './track-edits.ts'
import type { Movie } from './tracks.ts'

export interface Avif {
  layout: AvifLayout
  /** `null` if there are no items. */
  meta: Meta | null
  kept: Map<number, Item>
  /** `null` if there is no track to keep. */
  movie: Movie | null
}

/** Throws `Refusal('damaged-image')` if image data lies where no image data may be. */
export async function scrubbed(
  file: BoxFile,
  { layout, meta, kept, movie }: Avif,
  dataEdits: Edit[],
): Promise<Segment[]> {
  // An identity shows another image, and has no data of its own (23008-12, 6.6.2.1).
  const shown = [...kept.values()].filter(({ type }) => type !== 'iden')
  const inFile = runsOfItems(shown.filter(({ reach }) => reach > 0))
  const inIdat = runsOfItems(shown.filter(({ reach }) => reach === 0))
  const { work } = file.cursor
  const all = concatenated([inFile, ...(movie?.tracks.map(({ samples }) => samples) ?? [])])
  if (work.spend(all.length / 16)) await work.turn()
  // What goes of the data of one image may not be written into that of another.
  if (dataEdits.length > 0 && overlap(inOrder(concatenated([all, inIdat]))))
    refuse('its boxes or images overlap')
  const used = union(all)
  // Entries before `idat` may be cut out, so that it moves: what is named by its place in the file may not lie there.
  const idat = meta?.idat ? [{ start: meta.idat.body, end: meta.idat.end, box: null }] : []
  function* gaps(): Generator<{ region: { box: Box | null }; gap: Run }> {
    yield* unused(layout.data, used)
    yield* unused(idat, union(inIdat))
  }

  // Data of items that go, and bytes that belong to nothing, such as the Exif of an earlier save.
  const edits: Edit[] = []
  const reach = reachOf(kept, movie)
  const holding = holders(layout, used, meta, movie)
  for (const { region, gap } of gaps()) {
    const { box } = region
    const isHolding = box !== null && holding.has(box)
    // A box that holds nothing is cut out below, or stays whole with zeros in it.
    if (box && !isHolding && box.start >= reach) continue
    const end = isHolding ? Math.min(gap.end, Math.max(gap.start, reach)) : gap.end
    const before = { start: gap.start, end }
    if (!(await isZeroRun(file, before))) zeroInto(edits, before)
    if (!isHolding || end === gap.end) continue
    // Nothing that is used follows in this box.
    addInto(edits, cut({ start: end, end: gap.end }))
    addInto(edits, resize(box, box.end - box.start - (gap.end - end)))
  }
  const trackIds = new Set(movie?.tracks.map(({ id }) => id))
  const described = [
    meta ? await metaEdits(file, meta, kept, trackIds, meta.box.start >= reach) : [],
    movie ? movieEdits(movie, movie.box.start >= reach) : [],
  ]
  const end = await blankRest(edits, file, layout, holding, reach)
  return edited([layout.edits, edits, distinct(dataEdits), ...described].flat(), end)
}

/** The farthest byte that is named by its place in the file. What stands behind it may move. */
function reachOf(kept: Map<number, Item>, movie: Movie | null): number {
  let reach = 0
  for (const item of kept.values()) reach = Math.max(reach, item.reach)
  for (const { samples } of movie?.tracks ?? []) {
    for (let at = 1; at < samples.length; at += 2) reach = Math.max(reach, samples[at]!)
  }
  return reach
}

function runsOfItems(items: Item[]): Runs {
  return Float64Array.from(
    items.flatMap(({ extents }) => extents ?? []).flatMap(({ start, end }) => [start, end]),
  )
}

/** Items and samples may share data, and so what has to go of it. */
function distinct(edits: Edit[]): Edit[] {
  return [...new Map(edits.map((edit) => [edit.start, edit])).values()]
}

/** The boxes that hold something of what is shown. */
function holders(layout: AvifLayout, used: Runs, meta: Meta | null, movie: Movie | null): Set<Box> {
  const holding = new Set<Box>(layout.boxes.slice(0, 1))
  if (meta) holding.add(meta.box)
  if (movie) holding.add(movie.box)
  let next = 0
  for (const { box } of layout.data) {
    while (next < used.length && used[next]! < box.body) next += 2
    if (next < used.length && used[next]! < box.end) holding.add(box)
  }
  return holding
}

/** Blanks the other boxes before `reach`, and cuts out those behind it. Returns where the file ends. */
async function blankRest(
  edits: Edit[],
  file: BoxFile,
  { boxes, data }: AvifLayout,
  holding: Set<Box>,
  reach: number,
): Promise<number> {
  const last = boxes.findLastIndex((box) => holding.has(box))
  const end = boxes[last]?.end ?? 0
  if (reach > end) refuse('image data lies outside mdat, imda and idat')
  // Data boxes have been zeroed as gaps.
  const zeroed = new Set(data.map(({ box }) => box))
  for (const box of boxes.slice(0, last)) {
    if (holding.has(box)) continue
    if (box.start >= reach) addInto(edits, cut(box))
    else if (!zeroed.has(box) && !(await isEmpty(file, box))) blankInto(edits, box)
  }
  return end
}
