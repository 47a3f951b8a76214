/** What is left of an AVIF file without what is private. Every image byte that is kept stays where it was. */

import { blankInto, type Edit, edited, isEmpty, zeroInto } from '../bmff/edits.ts'
import type { Box, Run } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { union, unused } from '../bmff/runs.ts'
import type { Segment } from '../image.ts'
import type { Item, Meta } from './items.ts'
import type { AvifLayout } from './layout.ts'
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
  const items = shown.flatMap(({ extents }) => extents ?? [])
  const { work } = file.cursor
  const used = union([...items, ...(movie?.tracks.flatMap(({ samples }) => samples) ?? [])])
  if (work.spend(used.length / 8)) await work.turn()
  const inIdat = meta?.idat ? [{ start: meta.idat.body, end: meta.idat.end }] : []
  const regions = [...layout.data.map(({ inner }) => inner), ...inIdat].toSorted((a, b) => a.start - b.start)

  // Data of items that go, and bytes that belong to nothing, such as the Exif of an earlier save.
  const edits: Edit[] = []
  for (const gap of unused(regions, used)) {
    if (!(await isZeroRun(file, gap))) zeroInto(edits, gap)
  }
  const trackIds = new Set(movie?.tracks.map(({ id }) => id))
  const described = [meta ? await metaEdits(file, meta, kept, trackIds) : [], movie ? movieEdits(movie) : []]
  const end = await blankRest(edits, file, layout, holders(layout, used, meta, movie))
  return edited([layout.edits, edits, distinct(dataEdits), ...described].flat(), end)
}

/** Items and samples may share data, and so what has to go of it. */
function distinct(edits: Edit[]): Edit[] {
  return [...new Map(edits.map((edit) => [edit.start, edit])).values()]
}

/** The boxes that hold something of what is shown. */
function holders(layout: AvifLayout, used: Run[], meta: Meta | null, movie: Movie | null): Set<Box> {
  const holding = new Set<Box>(layout.boxes.slice(0, 1))
  if (meta) holding.add(meta.box)
  if (movie) holding.add(movie.box)
  let next = 0
  for (const { box } of layout.data) {
    while (used[next] && used[next]!.start < box.body) next++
    if (used[next] && used[next]!.start < box.end) holding.add(box)
  }
  return holding
}

/** Blanks the other boxes between those that hold something. Returns where the file ends: before litter behind them. */
async function blankRest(
  edits: Edit[],
  file: BoxFile,
  layout: AvifLayout,
  holding: Set<Box>,
): Promise<number> {
  const last = layout.boxes.findLastIndex((box) => holding.has(box))
  const data = new Set(layout.data.map(({ box }) => box))
  for (const [index, box] of layout.boxes.entries()) {
    // Data boxes before the end have been zeroed as gaps.
    if (holding.has(box) || (index < last && data.has(box)) || (await isEmpty(file, box))) continue
    if (data.has(box) && (await isZeroRun(file, { start: box.body, end: box.end }))) continue
    if (index > last) return box.start
    blankInto(edits, box)
  }
  return layout.end
}
