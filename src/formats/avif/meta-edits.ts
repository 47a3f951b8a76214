/** Removes private data from a `meta` box without moving any image byte after it. */
import {
  addBlank,
  addEdit,
  addZeros,
  cut,
  type Edit,
  isEmpty,
  overwrite,
  pad,
  resize,
  zeroEdits,
} from '../bmff/edits.ts'
import type { Box, Run } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { ignoredByteEdits, KEPT_CHILDREN, nameEdits, propertyKinds, TRANSFORMATIONS } from './box-rules.ts'
import type { Entry, IdList, Item, ItemList, Meta, Property } from './meta.ts'

/** Properties with private data, removed even if marked essential (23008-12, 6.5). */
const PRIVATE_PROPERTIES: ReadonlySet<string> = new Set('udes altt crtt mdft cmin cmex'.split(' '))

/** The header of a free box. Unit: bytes. */
const MIN_BOX_BYTES = 8

/**
 * Cuts out the entries of removed items, and inserts a free box of the same length after the `meta` box, so that no offset
 * changes. Other boxes are blanked in place. `isLast`: no image byte follows, so everything is cut out instead. `tracks`:
 * IDs of the kept tracks.
 */
export async function metaEdits(
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
  tracks: ReadonlySet<number>,
  isLast: boolean,
): Promise<Edit[]> {
  const edits: Edit[] = []
  let removedChildBytes = 0
  for (const child of meta.children) {
    if (KEPT_CHILDREN.meta?.has(child.type)) continue
    if (isLast) {
      addEdit(edits, cut(child))
      removedChildBytes += child.end - child.start
    } else if (!(await isEmpty(file, child))) addBlank(edits, child)
  }
  await blankProperties(edits, file, meta, kept)
  for (const { box, fields } of meta.parts.values()) edits.push(...ignoredByteEdits(fields, box))
  const infos = meta.parts.get('iinf')?.fields
  const locations = meta.parts.get('iloc')?.fields
  for (const { info, nameAt, ignoredFields } of kept.values()) {
    if (infos) edits.push(...nameEdits(infos, nameAt, info.end))
    for (const { start, end } of ignoredFields) if (locations) edits.push(...zeroEdits(locations, start, end))
  }
  for (const { box, fields, end } of meta.lists) edits.push(...zeroEdits(fields, end, box.end))

  const isRemoved = (id: number) => !kept.has(id)
  const isExistingAndRemoved = (id: number) => meta.items.has(id) && !kept.has(id)
  let cuts = cutsOf(meta, isRemoved, tracks)
  // Entries of nonexistent items may be too short for a free box in their place; then keep them. Entries of existing items
  // are always long enough, because their `infe` box is removed too.
  const freedSpace = isLast ? 0 : freedBytes(cuts, meta)
  if (freedSpace > 0 && freedSpace < MIN_BOX_BYTES) cuts = cutsOf(meta, isExistingAndRemoved, tracks)
  const freed = freedBytes(cuts, meta)
  cuts.shrunk.set(meta.box, freed + removedChildBytes)
  for (const [box, bytes] of cuts.shrunk) if (bytes > 0) edits.push(resize(box, box.end - box.start - bytes))
  // Not `push(...)`: there may be more edits than a call can take arguments.
  return [...edits, ...cuts.edits, ...(freed > 0 && !isLast ? pad(meta.box.end, freed) : [])]
}

interface Cuts {
  edits: Edit[]
  /** Number of bytes cut out of each box. */
  shrunk: Map<Box, number>
}

/** Unit: bytes. */
function freedBytes({ shrunk }: Cuts, meta: Meta): number {
  return shrunk.get(meta.box) ?? 0
}

type IsRemoved = (id: number) => boolean

function cutsOf(meta: Meta, isRemoved: IsRemoved, tracks: ReadonlySet<number>): Cuts {
  const cuts: Cuts = { edits: [], shrunk: new Map() }
  for (const list of meta.lists) cutEntries(cuts, list, list.entries, isRemoved)
  cutLists(cuts, meta.references, isRemoved)
  // Groups may contain tracks too.
  cutLists(cuts, meta.groups, (id) => isRemoved(id) && !tracks.has(id))
  return cuts
}

function cutOut({ edits, shrunk }: Cuts, run: Run, around: Box[]): void {
  edits.push(cut(run))
  for (const box of around) shrunk.set(box, (shrunk.get(box) ?? 0) + run.end - run.start)
}

function cutEntries(
  cuts: Cuts,
  { box, parents, countAt, countWidth }: ItemList | IdList,
  entries: readonly Entry[],
  isRemoved: IsRemoved,
): void {
  const removed = entries.filter(({ id }) => isRemoved(id))
  for (const entry of removed) cutOut(cuts, entry, [box, ...parents])
  if (removed.length > 0) cuts.edits.push(overwrite(countAt, countWidth, entries.length - removed.length))
}

/** Cuts the lists of one parent, and the parent itself if it becomes empty. */
function cutLists(cuts: Cuts, lists: IdList[], isRemoved: IsRemoved): void {
  const [parent, ...around] = lists[0]?.parents ?? []
  if (!parent) return
  const isListRemoved = lists.map(
    ({ from, ids, box }) =>
      (from === null ? !KEPT_CHILDREN.grpl?.has(box.type) : isRemoved(from)) ||
      (ids.length > 0 && ids.every(isRemoved)),
  )
  if (isListRemoved.every(Boolean)) {
    cutOut(cuts, parent, around)
    return
  }
  for (const [index, list] of lists.entries()) {
    const { box, parents, fields, from, end } = list
    if (isListRemoved[index]) {
      cutOut(cuts, box, parents)
      continue
    }
    cutEntries(cuts, list, entriesOf(list), isRemoved)
    cuts.edits.push(...zeroEdits(fields, end, box.end))
    // Version and flags of a group.
    if (from === null) cuts.edits.push(...zeroEdits(fields, box.body, box.body + 4))
  }
}

function entriesOf({ ids, idWidth, end }: IdList): Entry[] {
  const first = end - ids.length * idWidth
  return ids.map((id, index) => ({ id, start: first + index * idWidth, end: first + (index + 1) * idWidth }))
}

/** Replaces removed properties by free boxes, so that property indexes do not change (allowed by 23008-12, 9.3.1). */
async function blankProperties(
  edits: Edit[],
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
): Promise<void> {
  const associations = [...kept.values()].flatMap(({ properties }) => properties)
  const kinds = propertyKinds(meta)
  const used = new Set([...kept.values()].flatMap((item) => countedProperties(item, kinds)))
  const essential = new Set(associations.flatMap((one) => (one.essential ? one.property : [])))
  for (const child of meta.propertyBoxes) {
    if (!KEPT_CHILDREN.iprp?.has(child.type) && !(await isEmpty(file, child))) addBlank(edits, child)
  }
  const removed = new Set<Property>()
  const { work } = file.cursor
  for (const property of meta.properties) {
    const { box } = property
    const isKnown = KEPT_CHILDREN.ipco?.has(box.type)
    if (work.spendBytes(box.end - box.start)) await work.yield()
    if (await isEmpty(file, box)) continue
    if (!isKnown && essential.has(property) && !PRIVATE_PROPERTIES.has(box.type)) {
      // Unknown but essential: it prevents readers from showing the image. Preserve that effect without the contents.
      const contents = { start: box.body, end: box.end }
      if (!(await isZeroRun(file, contents))) addZeros(edits, contents)
      continue
    }
    if (isKnown && used.has(property)) {
      const { fields } = meta.parts.get('iprp') ?? {}
      if (fields) edits.push(...ignoredByteEdits(fields, box))
      continue
    }
    addBlank(edits, box)
    removed.add(property)
  }
  // Clear the essential flag of removed properties, so that viewers do not skip the image.
  for (const { property, essential, at, width, index } of associations) {
    if (essential && removed.has(property)) edits.push(overwrite(at, width, index))
  }
}

/** The properties of an item that viewers use: the first of each kind, and all transformations. */
function countedProperties({ properties }: Item, kinds: Map<Property, string | null>): Property[] {
  const seen = new Set<string>()
  return properties.flatMap(({ property }) => {
    const kind = kinds.get(property)
    if (!kind || (seen.has(kind) && !TRANSFORMATIONS.has(kind))) return []
    seen.add(kind)
    return property
  })
}
