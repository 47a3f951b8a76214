/** Takes what is private out of a `meta` box, and leaves every image byte behind it where it was. */
import {
  addInto,
  blankInto,
  cut,
  type Edit,
  isEmpty,
  overwrite,
  pad,
  resize,
  zeroed,
  zeroInto,
} from '../bmff/edits.ts'
import type { Box, Run } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { isUnfit, KEPT_CHILDREN, nameEdits, spareEdits } from './box-rules.ts'
import type { Entry, IdList, Item, ItemList, Meta, Property } from './meta.ts'

/** Properties that say who, when or with what, even where a file calls them essential (23008-12, 6.5). */
const PRIVATE_PROPERTIES: ReadonlySet<string> = new Set('udes altt crtt mdft cmin cmex'.split(' '))

/** The header of a free box. Unit: bytes. */
const MIN_BOX_BYTES = 8

/**
 * Entries of items that are not kept are cut out, and a free box of the same length follows the `meta` box, so that
 * no offset changes. Other boxes are blanked where they are. `isLast`: no image byte follows, so that all this is cut out
 * instead. `tracks`: numbers of those that are kept.
 */
export async function metaEdits(
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
  tracks: ReadonlySet<number>,
  isLast: boolean,
): Promise<Edit[]> {
  const edits: Edit[] = []
  let childrenGone = 0
  for (const child of meta.children) {
    if (KEPT_CHILDREN.meta?.has(child.type)) continue
    if (isLast) {
      addInto(edits, cut(child))
      childrenGone += child.end - child.start
    } else if (!(await isEmpty(file, child))) blankInto(edits, child)
  }
  await blankProperties(edits, file, meta, kept)
  for (const { box, fields } of meta.parts.values()) edits.push(...spareEdits(fields, box))
  const infos = meta.parts.get('iinf')?.fields
  const places = meta.parts.get('iloc')?.fields
  for (const { info, nameAt, spare } of kept.values()) {
    if (infos) edits.push(...nameEdits(infos, nameAt, info.end))
    for (const { start, end } of spare) if (places) edits.push(...zeroed(places, start, end))
  }
  for (const { box, fields, end } of meta.lists) edits.push(...zeroed(fields, end, box.end))

  const isGone = (id: number) => !kept.has(id)
  const isListed = (id: number) => meta.items.has(id) && !kept.has(id)
  let cuts = cutsOf(meta, isGone, tracks)
  // Entries of items that are not there may be shorter than the box that takes their place. Those of items that are
  // there take their `infe` box along.
  const room = isLast ? 0 : freedOf(cuts, meta)
  if (room > 0 && room < MIN_BOX_BYTES) cuts = cutsOf(meta, isListed, tracks)
  const freed = freedOf(cuts, meta)
  cuts.shrunk.set(meta.box, freed + childrenGone)
  for (const [box, bytes] of cuts.shrunk) if (bytes > 0) edits.push(resize(box, box.end - box.start - bytes))
  // There may be more cuts than a call takes arguments.
  return [...edits, ...cuts.edits, ...(freed > 0 && !isLast ? pad(meta.box.end, freed) : [])]
}

interface Cuts {
  edits: Edit[]
  /** How many bytes each box loses. */
  shrunk: Map<Box, number>
}

/** Unit: bytes. */
function freedOf({ shrunk }: Cuts, meta: Meta): number {
  return shrunk.get(meta.box) ?? 0
}

type IsGone = (id: number) => boolean

function cutsOf(meta: Meta, isGone: IsGone, tracks: ReadonlySet<number>): Cuts {
  const cuts: Cuts = { edits: [], shrunk: new Map() }
  for (const list of meta.lists) cutEntries(cuts, list, list.entries, isGone)
  cutLists(cuts, meta.references, isGone)
  // A group may hold tracks, too.
  cutLists(cuts, meta.groups, (id) => isGone(id) && !tracks.has(id))
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
  isGone: IsGone,
): void {
  const gone = entries.filter(({ id }) => isGone(id))
  for (const entry of gone) cutOut(cuts, entry, [box, ...parents])
  if (gone.length > 0) cuts.edits.push(overwrite(countAt, countWidth, entries.length - gone.length))
}

/** All lists of one parent. It goes too if nothing stays in it. */
function cutLists(cuts: Cuts, lists: IdList[], isGone: IsGone): void {
  const [parent, ...around] = lists[0]?.parents ?? []
  if (!parent) return
  const goes = lists.map(
    ({ from, ids, box }) =>
      (from === null ? !KEPT_CHILDREN.grpl?.has(box.type) : isGone(from)) ||
      (ids.length > 0 && ids.every(isGone)),
  )
  if (goes.every(Boolean)) {
    cutOut(cuts, parent, around)
    return
  }
  for (const [index, list] of lists.entries()) {
    const { box, parents, fields, from, end } = list
    if (goes[index]) {
      cutOut(cuts, box, parents)
      continue
    }
    cutEntries(cuts, list, entriesOf(list), isGone)
    cuts.edits.push(...zeroed(fields, end, box.end))
    // Version and flags of a group.
    if (from === null) cuts.edits.push(...zeroed(fields, box.body, box.body + 4))
  }
}

function entriesOf({ ids, idWidth, end }: IdList): Entry[] {
  const first = end - ids.length * idWidth
  return ids.map((id, index) => ({ id, start: first + index * idWidth, end: first + (index + 1) * idWidth }))
}

/** Properties keep their numbers: one that goes becomes a free box, which may stand among them (23008-12, 9.3.1). */
async function blankProperties(
  edits: Edit[],
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
): Promise<void> {
  const associations = [...kept.values()].flatMap(({ properties }) => properties)
  const used = new Set(associations.map(({ property }) => property))
  const essential = new Set(associations.flatMap((one) => (one.essential ? one.property : [])))
  for (const child of meta.propertyBoxes) {
    if (!KEPT_CHILDREN.iprp?.has(child.type) && !(await isEmpty(file, child))) blankInto(edits, child)
  }
  const gone = new Set<Property>()
  const { work } = file.cursor
  for (const property of meta.properties) {
    const { box } = property
    const isKnown = KEPT_CHILDREN.ipco?.has(box.type)
    if (work.spendBytes(box.end - box.start)) await work.turn()
    if (await isEmpty(file, box)) continue
    if (!isKnown && essential.has(property) && !PRIVATE_PROPERTIES.has(box.type)) {
      // Readers that do not know it must not show the image, and none knows it: it says that without its contents.
      const contents = { start: box.body, end: box.end }
      if (!(await isZeroRun(file, contents))) zeroInto(edits, contents)
      continue
    }
    if (isKnown && used.has(property) && !isUnfit(box.type, property.read())) {
      const { fields } = meta.parts.get('iprp') ?? {}
      if (fields) edits.push(...spareEdits(fields, box))
      continue
    }
    blankInto(edits, box)
    gone.add(property)
  }
  // No viewer may skip an image because of a property that is gone.
  for (const { property, essential, at, width, index } of associations) {
    if (essential && gone.has(property)) edits.push(overwrite(at, width, index))
  }
}
