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
  zeroInto,
} from '../bmff/edits.ts'
import type { Box, Fields } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun } from '../bmff/file.ts'
import { dataReferenceEdits, handlerEdits, tailEdits, unnamed, zeroed } from '../bmff/spare.ts'
import { ICC_HEADER_BYTES, profileLength } from '../metadata/icc.ts'
import { configEdits } from './config-units.ts'
import type { IdList, Item, ItemList, Meta, Property } from './items.ts'

/** What a `meta` box keeps. Anything else in it is blanked: XML, `uuid`, boxes that nobody has heard of. */
const KEPT_CHILDREN: ReadonlySet<string> = new Set('hdlr pitm iloc iinf iref iprp grpl idat dinf'.split(' '))

/** Properties that change how an image looks (23008-12, MIAF, AVIF). */
const KEPT_PROPERTIES: ReadonlySet<string> = new Set(
  `ispe pixi pasp colr clap irot imir rloc auxC av1C a1op a1lx lsel iscl clli mdcv cclv amve reve ndwt`.split(
    /\s+/,
  ),
)

/** Properties that say who, when or with what, even where a file calls them essential (23008-12, 6.5). */
const PRIVATE_PROPERTIES: ReadonlySet<string> = new Set('udes altt crtt mdft cmin cmex'.split(' '))

/** Groups that viewers go by (23008-12, 6.8; `altr`: one of several is shown, e.g. with or without its gain map). */
const KEPT_GROUPS: ReadonlySet<string> = new Set('altr ster eqiv tsyn brst'.split(' '))

/** The header of a free box. Unit: bytes. */
const LEAST_BOX_BYTES = 8

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
    if (KEPT_CHILDREN.has(child.type)) continue
    if (isLast) {
      addInto(edits, cut(child))
      childrenGone += child.end - child.start
    } else if (!(await isEmpty(file, child))) blankInto(edits, child)
  }
  await blankProperties(edits, file, meta, kept)
  edits.push(...spareEdits(meta, kept))

  const isGone = (id: number) => !kept.has(id)
  const isListed = (id: number) => meta.items.has(id) && !kept.has(id)
  const all = cutsOf(meta, isGone, tracks)
  // Entries of items that are not there may be shorter than the box that takes their place. Those of items that are
  // there take their `infe` box along.
  const isRoom = isLast || all.freed >= LEAST_BOX_BYTES || all.freed === 0
  const cuts = isRoom ? all : cutsOf(meta, isListed, tracks)
  shrink(cuts, childrenGone, meta.box)
  for (const [box, bytes] of cuts.shrunk) if (bytes > 0) edits.push(resize(box, box.end - box.start - bytes))
  // There may be more cuts than a call takes arguments.
  return [...edits, ...cuts.edits, ...(cuts.freed > 0 && !isLast ? pad(meta.box.end, cuts.freed) : [])]
}

/** Names, reserved fields, and what stands behind the last field of the boxes that stay. */
function spareEdits(meta: Meta, kept: Map<number, Item>): Edit[] {
  const edits: Edit[] = []
  const [hdlr, pitm, iinf, dinf] = ['hdlr', 'pitm', 'iinf', 'dinf'].map((type) => meta.parts.get(type))
  if (hdlr) edits.push(...handlerEdits(hdlr.fields, hdlr.box))
  if (dinf)
    edits.push(
      ...(dataReferenceEdits(dinf.fields, dinf.box) ?? zeroed(dinf.fields, dinf.box.body, dinf.box.end)),
    )
  if (pitm) {
    const wide = pitm.fields.bodyOf(pitm.box).versionAndFlags().version > 0
    edits.push(...zeroed(pitm.fields, pitm.box.body + (wide ? 8 : 6), pitm.box.end))
  }
  for (const { info, nameAt } of kept.values()) {
    if (iinf) edits.push(...unnamed(iinf.fields, nameAt, info.end))
  }
  for (const list of meta.lists) {
    const fields = meta.parts.get(list.parents[0]?.type === 'iprp' ? 'iprp' : list.box.type)?.fields
    if (fields && list.box.type !== 'iinf') edits.push(...zeroed(fields, list.entriesEnd, list.box.end))
  }
  return edits
}

function cutsOf(
  meta: Meta,
  isGone: (id: number) => boolean,
  tracks: ReadonlySet<number>,
): Cuts & { freed: number } {
  const cuts: Cuts = { edits: [], gone: isGone, shrunk: new Map(), fields: undefined }
  for (const list of meta.lists) cutEntries(cuts, list)
  cuts.fields = meta.parts.get('iref')?.fields
  cutLists(cuts, meta.references, meta.box)
  // A group may hold tracks, too.
  cuts.gone = (id) => isGone(id) && !tracks.has(id)
  cuts.fields = meta.parts.get('grpl')?.fields
  cutLists(cuts, meta.groups, meta.box)
  return { ...cuts, freed: cuts.shrunk.get(meta.box) ?? 0 }
}

interface Cuts {
  edits: Edit[]
  gone(id: number): boolean
  /** How many bytes each box loses. */
  shrunk: Map<Box, number>
  /** Fields of the box that is being cut. */
  fields: Fields | undefined
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
    ({ from, ids, type }) =>
      (from === null ? !KEPT_GROUPS.has(type) : cuts.gone(from)) || (ids.length > 0 && ids.every(cuts.gone)),
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
  { box, parent, from, ids, countAt, countWidth, idsAt, idWidth }: IdList,
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
  if (!cuts.fields) return
  cuts.edits.push(...zeroed(cuts.fields, idsAt + ids.length * idWidth, box.end))
  // Version and flags of a group.
  if (from === null) cuts.edits.push(...zeroed(cuts.fields, box.body, box.body + 4))
}

/** Properties keep their numbers: one that goes becomes a free box, which may stand among them (23008-12, 9.3.1). */
async function blankProperties(
  edits: Edit[],
  file: BoxFile,
  meta: Meta,
  kept: Map<number, Item>,
): Promise<void> {
  const used = new Set<Property>()
  const essential = new Set<Property>()
  for (const { properties } of kept.values()) {
    for (const one of properties) {
      used.add(one.property)
      if (one.essential) essential.add(one.property)
    }
  }
  for (const child of meta.propertyBoxes) {
    if (child.type !== 'ipco' && child.type !== 'ipma' && !(await isEmpty(file, child)))
      blankInto(edits, child)
  }
  const gone = new Set<Property>()
  const { work } = file.cursor
  for (const property of meta.properties) {
    const { box } = property
    if (work.spendBytes(box.end - box.start)) await work.turn()
    if (await isEmpty(file, box)) continue
    if (!KEPT_PROPERTIES.has(box.type) && essential.has(property) && !PRIVATE_PROPERTIES.has(box.type)) {
      // Readers that do not know it must not show the image, and none knows it: it says that without its contents.
      if (!(await isZeroRun(file, { start: box.body, end: box.end })))
        zeroInto(edits, { start: box.body, end: box.end })
      continue
    }
    if (used.has(property) && KEPT_PROPERTIES.has(box.type) && !isUnfit(box.type, property.read())) {
      const { fields } = meta.parts.get('iprp') ?? {}
      if (fields) edits.push(...(box.type === 'av1C' ? configEdits(fields, box) : tailEdits(fields, box)))
      continue
    }
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

/** True for a property that viewers pass over: a `pixi` that is not valid, a `colr` without a profile. */
function isUnfit(type: string, fields: Fields): boolean {
  if (type === 'pixi') {
    if (fields.left < 5 || fields.versionAndFlags().version !== 0) return true
    const channels = fields.u8()
    return channels < 1 || channels > 4 || channels > fields.left
  }
  return type === 'colr' && holdsNoProfile(fields)
}

function holdsNoProfile(fields: Fields): boolean {
  const kind = fields.left >= 4 ? fields.code() : ''
  if (kind !== 'rICC' && kind !== 'prof') return kind !== 'nclx' && kind !== 'nclc'
  const { left } = fields
  return profileLength(fields.take(Math.min(ICC_HEADER_BYTES, left)), left) === null
}
