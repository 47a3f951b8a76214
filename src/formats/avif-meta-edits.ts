/** Takes what is private out of a `meta` box, and leaves every image byte where it was. */
import type { Association, IdList, Item, ItemList, Meta, Property } from './avif-items.ts'
import { blank, cut, type Edit, isFree, overwrite, pad, resize } from './bmff-edits.ts'
import type { Box } from './bmff-fields.ts'
import { isZeroRun } from './bmff-file.ts'
import type { ByteSource } from './image.ts'

/** What a `meta` box keeps. Anything else in it is blanked: XML, `uuid`, boxes that nobody has heard of. */
const KEPT_CHILDREN: ReadonlySet<string> = new Set('hdlr pitm iloc iinf iref iprp grpl idat ipro'.split(' '))

/** A data reference that names this file and no other. Unit: bytes. */
const OWN_DATA_REFERENCE_BYTES = 36

/** Properties that change how an image looks (23008-12, MIAF, AVIF). */
const KEPT_PROPERTIES: ReadonlySet<string> = new Set(
  `ispe pixi pasp colr clap irot imir rloc auxC av1C a1op a1lx lsel iscl clli mdcv cclv amve reve ndwt
   hvcC lhvC avcC vvcC jpgC j2kH uncC cmpd`.split(/\s+/),
)

/** Properties that say who, when or with what, even where a file calls them essential (23008-12, 6.5.18 to 6.5.24). */
const PRIVATE_PROPERTIES: ReadonlySet<string> = new Set('udes altt crtt mdft cmin cmex'.split(' '))

/**
 * Entries of items that are not kept are cut out, and a free box of the same length follows the `meta` box, so that
 * no offset changes. Other boxes are blanked where they are.
 */
export async function metaEdits(source: ByteSource, meta: Meta, kept: Map<number, Item>): Promise<Edit[]> {
  const edits: Edit[] = []
  for (const child of meta.children) {
    const keeps =
      KEPT_CHILDREN.has(child.type) ||
      (child.type === 'dinf' && child.end - child.start <= OWN_DATA_REFERENCE_BYTES) ||
      (isFree(child) && (await isZeroRun(source, { start: child.body, end: child.end })))
    if (!keeps) edits.push(...blank(child))
  }
  edits.push(...(await propertyEdits(source, meta, kept)))

  const gone = (id: number) => meta.items.has(id) && !kept.has(id)
  const shrunk = new Map<Box, number>()
  const shrink: Shrink = (boxes, bytes) => {
    for (const box of boxes) shrunk.set(box, (shrunk.get(box) ?? 0) + bytes)
  }
  for (const list of meta.lists) edits.push(...cutEntries(list, gone, shrink))
  edits.push(...cutLists(meta.references, meta.box, gone, shrink))
  edits.push(...cutLists(meta.groups, meta.box, gone, shrink))
  for (const [box, bytes] of shrunk) edits.push(resize(box, box.end - box.start - bytes))
  // Every item that goes takes its `infe` box along, so there is room for the header of a free box.
  const freed = shrunk.get(meta.box) ?? 0
  if (freed > 0) edits.push(...pad(meta.box.end, freed))
  return edits
}

type Shrink = (boxes: Box[], bytes: number) => void
type Gone = (id: number) => boolean

function cutEntries(list: ItemList, gone: Gone, shrink: Shrink): Edit[] {
  const entries = list.entries.filter(({ id }) => gone(id))
  if (entries.length === 0) return []
  shrink(
    [list.box, ...list.parents],
    entries.reduce((sum, { start, end }) => sum + end - start, 0),
  )
  return [overwrite(list.countAt, list.countWidth, list.entries.length - entries.length), ...entries.map(cut)]
}

/** All lists of one parent. It goes too if nothing stays in it. */
function cutLists(lists: IdList[], meta: Box, gone: Gone, shrink: Shrink): Edit[] {
  const goes = ({ from, ids }: IdList) => (from !== null && gone(from)) || (ids.length > 0 && ids.every(gone))
  const whole = lists.filter(goes)
  const rest = lists.filter((list) => !goes(list))
  const parent = lists[0]?.parent
  if (!parent) return []
  if (rest.length === 0) {
    shrink([meta], parent.end - parent.start)
    return [cut(parent)]
  }
  const edits = whole.map(({ box }) => cut(box))
  for (const { box } of whole) shrink([parent, meta], box.end - box.start)
  for (const { box, ids, countAt, countWidth, idsAt, idWidth } of rest) {
    const stays = ids.filter((id) => !gone(id)).length
    if (stays === ids.length) continue
    shrink([box, parent, meta], (ids.length - stays) * idWidth)
    edits.push(overwrite(countAt, countWidth, stays))
    for (const [index, id] of ids.entries()) {
      const start = idsAt + index * idWidth
      if (gone(id)) edits.push(cut({ start, end: start + idWidth }))
    }
  }
  return edits
}

/** Properties keep their numbers: one that goes becomes a free box, which may stand among them (23008-12, 9.3.1). */
async function propertyEdits(source: ByteSource, meta: Meta, kept: Map<number, Item>): Promise<Edit[]> {
  const edits: Edit[] = []
  const essential = new Map<Property, Association[]>()
  for (const association of [...kept.values()].flatMap((item) => item.properties)) {
    if (!association.essential) continue
    const others = essential.get(association.property)
    if (others) others.push(association)
    else essential.set(association.property, [association])
  }
  for (const property of meta.properties) {
    const { box } = property
    const associations = essential.get(property) ?? []
    if (KEPT_PROPERTIES.has(box.type)) continue
    if (associations.length > 0 && !PRIVATE_PROPERTIES.has(box.type)) continue
    if (isFree(box) && (await isZeroRun(source, { start: box.body, end: box.end }))) continue
    edits.push(...blank(box), ...associations.map(({ at, width, index }) => overwrite(at, width, index)))
  }
  return edits
}
