/** Takes what is private out of a `meta` box, and leaves every image byte where it was. */

import { blankInto, cut, type Edit, isEmpty, overwrite, pad, resize } from '../bmff/edits.ts'
import type { Box } from '../bmff/fields.ts'
import type { BoxFile } from '../bmff/file.ts'
import type { IdList, Item, ItemList, Meta, Property } from './items.ts'

/** What a `meta` box keeps. Anything else in it is blanked: XML, `uuid`, boxes that nobody has heard of. */
const KEPT_CHILDREN: ReadonlySet<string> = new Set('hdlr pitm iloc iinf iref iprp grpl idat ipro'.split(' '))

/** A data reference that names this file and no other. Unit: bytes. */
const OWN_DATA_REFERENCE_BYTES = 36

/** Properties that change how an image looks (23008-12, MIAF, AVIF). */
const KEPT_PROPERTIES: ReadonlySet<string> = new Set(
  `ispe pixi pasp colr clap irot imir rloc auxC av1C a1op a1lx lsel iscl clli mdcv cclv amve reve ndwt
   hvcC lhvC avcC vvcC jpgC j2kH uncC cmpd`.split(/\s+/),
)

/** Properties that say who, when or with what, even where a file calls them essential (23008-12, 6.5). */
const PRIVATE_PROPERTIES: ReadonlySet<string> = new Set('udes altt crtt mdft cmin cmex'.split(' '))

/**
 * Entries of items that are not kept are cut out, and a free box of the same length follows the `meta` box, so that
 * no offset changes. Other boxes are blanked where they are.
 */
export async function metaEdits(file: BoxFile, meta: Meta, kept: Map<number, Item>): Promise<Edit[]> {
  const edits: Edit[] = []
  for (const child of meta.children) {
    const keeps =
      KEPT_CHILDREN.has(child.type) ||
      (child.type === 'dinf' && child.end - child.start <= OWN_DATA_REFERENCE_BYTES) ||
      (await isEmpty(file, child))
    if (!keeps) blankInto(edits, child)
  }
  await blankProperties(edits, file, meta, kept)

  const cuts: Cuts = {
    edits,
    gone: (id) => meta.items.has(id) && !kept.has(id),
    shrunk: new Map(),
  }
  for (const list of meta.lists) cutEntries(cuts, list)
  cutLists(cuts, meta.references, meta.box)
  cutLists(cuts, meta.groups, meta.box)
  for (const [box, bytes] of cuts.shrunk) edits.push(resize(box, box.end - box.start - bytes))
  // Every item that goes takes its `infe` box along, so there is room for the header of a free box.
  const freed = cuts.shrunk.get(meta.box) ?? 0
  if (freed > 0) edits.push(...pad(meta.box.end, freed))
  return edits
}

interface Cuts {
  edits: Edit[]
  gone(id: number): boolean
  /** How many bytes each box loses. */
  shrunk: Map<Box, number>
}

function shrink({ shrunk }: Cuts, bytes: number, ...boxes: Box[]): void {
  for (const box of boxes) shrunk.set(box, (shrunk.get(box) ?? 0) + bytes)
}

function cutEntries(cuts: Cuts, list: ItemList): void {
  const entries = list.entries.filter(({ id }) => cuts.gone(id))
  if (entries.length === 0) return
  for (const entry of entries) {
    cuts.edits.push(cut(entry))
    shrink(cuts, entry.end - entry.start, list.box, ...list.parents)
  }
  cuts.edits.push(overwrite(list.countAt, list.countWidth, list.entries.length - entries.length))
}

/** All lists of one parent. It goes too if nothing stays in it. */
function cutLists(cuts: Cuts, lists: IdList[], meta: Box): void {
  const parent = lists[0]?.parent
  if (!parent) return
  const goes = lists.map(
    ({ from, ids }) => (from !== null && cuts.gone(from)) || (ids.length > 0 && ids.every(cuts.gone)),
  )
  if (goes.every(Boolean)) {
    cuts.edits.push(cut(parent))
    shrink(cuts, parent.end - parent.start, meta)
    return
  }
  for (const [index, list] of lists.entries()) {
    if (!goes[index]) {
      cutIds(cuts, list, meta)
      continue
    }
    cuts.edits.push(cut(list.box))
    shrink(cuts, list.box.end - list.box.start, parent, meta)
  }
}

function cutIds(
  cuts: Cuts,
  { box, parent, ids, countAt, countWidth, idsAt, idWidth }: IdList,
  meta: Box,
): void {
  let stays = ids.length
  for (const [index, id] of ids.entries()) {
    if (!cuts.gone(id)) continue
    const start = idsAt + index * idWidth
    cuts.edits.push(cut({ start, end: start + idWidth }))
    shrink(cuts, idWidth, box, parent, meta)
    stays--
  }
  if (stays < ids.length) cuts.edits.push(overwrite(countAt, countWidth, stays))
}

/** Properties keep their numbers: one that goes becomes a free box, which may stand among them (23008-12, 9.3.1). */
async function blankProperties(
  edits: Edit[],
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
): Promise<void> {
  const essential = new Set<Property>()
  for (const { properties } of kept.values()) {
    for (const one of properties) if (one.essential) essential.add(one.property)
  }
  const gone = new Set<Property>()
  for (const property of meta.properties) {
    const { box } = property
    if (KEPT_PROPERTIES.has(box.type) || (await isEmpty(file, box))) continue
    if (essential.has(property) && !PRIVATE_PROPERTIES.has(box.type)) continue
    blankInto(edits, box)
    gone.add(property)
  }
  // No viewer may skip an image because of a property that is gone.
  for (const { properties } of kept.values()) {
    for (const { property, essential, at, width, index } of properties) {
      if (essential && gone.has(property)) edits.push(overwrite(at, width, index))
    }
  }
}
