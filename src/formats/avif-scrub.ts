/** What is left of an AVIF file without what is private. Every image byte that is kept stays where it was. */
import type { Item, Meta } from './avif-items.ts'
import type { AvifLayout } from './avif-layout.ts'
import { metaEdits } from './avif-meta-edits.ts'
import { movieEdits } from './avif-track-edits.ts'
import type { Movie } from './avif-tracks.ts'
import { blank, type Edit, edited, isFree, union, unused } from './bmff-edits.ts'
import type { Box } from './bmff-fields.ts'
import { isZeroRun } from './bmff-file.ts'
import type { ByteSource, Segment } from './image.ts'

export interface Avif {
  layout: AvifLayout
  /** `null` if there are no items. */
  meta: Meta | null
  kept: Map<number, Item>
  /** `null` if there is no track to keep. */
  movie: Movie | null
}

/** Throws `Refusal('damaged-image')` if image data lies where no image data may be. */
export async function scrubbed(source: ByteSource, { layout, meta, kept, movie }: Avif): Promise<Segment[]> {
  const items = [...kept.values()].flatMap(({ extents }) => extents ?? [])
  const used = union([...items, ...(movie?.tracks.flatMap(({ samples }) => samples) ?? [])])
  const regions = layout.data.map(({ inner }) => inner)
  if (meta?.idat) regions.push({ start: meta.idat.body, end: meta.idat.end })

  // Data of items that go, and bytes that belong to nothing, such as the Exif of an earlier save.
  const edits: Edit[] = []
  for (const gap of unused(
    regions.toSorted((a, b) => a.start - b.start),
    used,
  )) {
    if (!(await isZeroRun(source, gap))) edits.push(gap)
  }
  if (meta) edits.push(...(await metaEdits(source, meta, kept)))
  if (movie) edits.push(...movieEdits(movie))

  const holding = new Set<Box>([layout.boxes[0]!])
  if (meta) holding.add(meta.box)
  if (movie) holding.add(movie.box)
  for (const { box } of layout.data) {
    if (used.some(({ start }) => start >= box.body && start < box.end)) holding.add(box)
  }
  const last = layout.boxes.findLastIndex((box) => holding.has(box))
  const data = new Set(layout.data.map(({ box }) => box))
  for (const [index, box] of layout.boxes.entries()) {
    if (holding.has(box) || (index < last && data.has(box))) continue
    const empty =
      (isFree(box) || data.has(box)) && (await isZeroRun(source, { start: box.body, end: box.end }))
    if (empty) continue
    if (index > last) return edited(edits, box.start)
    edits.push(...blank(box))
  }
  return edited(edits, layout.end)
}
