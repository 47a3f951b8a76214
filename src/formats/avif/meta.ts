/** Reads the `meta` box of a HEIF file (ISO/IEC 23008-12). */

import { type Box, Fields, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, readRun } from '../bmff/file.ts'
import { readLocations } from './item-locations.ts'
import { readProperties } from './item-properties.ts'
import { type Item, type ItemList, MAX_ITEMS, type Meta, type MetaPart } from './items.ts'

/** Most bytes of description that are held in memory, for a file. Real ones take a few kilobytes. */
export const MAX_INDEX_BYTES = 4 * 1024 * 1024

/** Most items that references name, and most that groups name, over all of their lists. */
const MAX_REFERENCES = 2 ** 16

/** Boxes that are read. Each may be there once. */
const READ_TYPES: ReadonlySet<string> = new Set([
  ...['hdlr', 'pitm', 'iloc', 'iinf', 'iref', 'iprp', 'grpl', 'dinf'],
])

/** Reads a `meta` box, but not its `idat`. `null` if it is not about images. */
export async function readMeta(file: BoxFile, box: Box): Promise<Meta | null> {
  if (box.end - box.body < 4) refuse('its meta box is cut off')
  const { boxes: children, end } = await boxesIn(file, { start: box.body + 4, end: box.end })
  if (end !== box.end) refuse('a box is larger than the one around it')
  const idat = children.filter((child) => child.type === 'idat')
  const parts = new Map<string, MetaPart>()
  let indexBytes = 0
  for (const child of children) {
    if (!READ_TYPES.has(child.type)) continue
    if (parts.has(child.type)) refuse(`it has two ${child.type} boxes`)
    indexBytes += child.end - child.start
    if (indexBytes > MAX_INDEX_BYTES) refuse('its description is too large')
    parts.set(child.type, { box: child, fields: new Fields(await readRun(file, child), child.start) })
  }
  if (idat.length > 1) refuse('it has two idat boxes')

  const body = (type: string) => {
    const part = parts.get(type)
    return part && { box: part.box, fields: part.fields.bodyOf(part.box) }
  }
  if (handlerOf(body('hdlr')?.fields) !== 'pict') return null
  const meta: Meta = {
    box,
    children,
    primary: null,
    items: new Map(),
    properties: [],
    propertyBoxes: [],
    references: [],
    groups: [],
    lists: [],
    parts,
    idat: idat[0] ?? null,
  }
  const primary = body('pitm')?.fields
  if (primary) meta.primary = primary.uint(primary.versionAndFlags().version === 0 ? 2 : 4)
  const [infos, locations, properties] = [body('iinf'), body('iloc'), body('iprp')]
  if (infos) readInfos(infos.box, infos.fields, meta)
  if (locations) readLocations(locations.box, locations.fields, meta, file.source.size)
  if (properties) readProperties(properties.box, properties.fields, meta)
  const [references, groups] = [body('iref'), body('grpl')]
  if (references) readReferences(references.box, references.fields, meta)
  if (groups) readGroups(groups.box, groups.fields, meta)
  return meta
}

/** 14496-12, 8.4.3. */
export function handlerOf(fields: Fields | undefined): string {
  if (!fields) return ''
  fields.skip(8)
  return fields.code()
}

/** 14496-12, 8.11.6. */
function readInfos(box: Box, fields: Fields, meta: Meta): void {
  const countWidth = fields.versionAndFlags().version === 0 ? 2 : 4
  const countAt = fields.at
  const count = fields.uint(countWidth)
  const boxes = fields.boxes()
  if (boxes.length !== count || boxes.some(({ type }) => type !== 'infe'))
    refuse('iinf does not hold as many items as it says')
  if (count > MAX_ITEMS) refuse('it has too many items')
  const list: ItemList = { box, parents: [meta.box], countAt, countWidth, entries: [], entriesEnd: fields.at }
  for (const info of boxes) {
    const item = readInfo(info, fields.within(info.body, info.end))
    if (meta.items.has(item.id)) refuse('iinf lists an item twice')
    meta.items.set(item.id, item)
    list.entries.push({ id: item.id, start: info.start, end: info.end })
  }
  meta.lists.push(list)
}

function readInfo(info: Box, fields: Fields): Item {
  const { version, flags } = fields.versionAndFlags()
  const id = fields.uint(version === 3 ? 4 : 2)
  fields.skip(2)
  const type = version >= 2 ? fields.code() : ''
  const nameAt = fields.at
  fields.text()
  const contentType = type === 'mime' || version < 2 ? fields.text() : ''
  const isHidden = version >= 2 && (flags & 1) === 1
  return {
    id,
    type,
    contentType,
    isHidden,
    extents: null,
    reach: 0,
    properties: [],
    inputs: [],
    info,
    nameAt,
  }
}

/** 14496-12, 8.11.12. */
function readReferences(parent: Box, fields: Fields, meta: Meta): void {
  const idWidth = fields.versionAndFlags().version === 0 ? 2 : 4
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    const from = body.uint(idWidth)
    const list = { parent, from, ...readIds(box, body, 2, idWidth, budget) }
    meta.references.push(list)
    const item = list.type === 'dimg' && meta.items.get(from)
    if (!item) continue
    if (item.inputs.length > 0) refuse('an image has two lists of inputs (dimg)')
    item.inputs = list.ids
  }
}

/** 14496-12, 8.18.3. */
function readGroups(parent: Box, fields: Fields, meta: Meta): void {
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    body.skip(8)
    meta.groups.push({ parent, from: null, ...readIds(box, body, 4, 4, budget) })
  }
}

function readIds(box: Box, body: Fields, countWidth: number, idWidth: number, budget: { ids: number }) {
  const countAt = body.at
  const count = body.uint(countWidth)
  const idsAt = body.at
  if (count * idWidth > body.left) refuse('a list of items in iref or grpl is cut off')
  budget.ids -= count
  if (budget.ids < 0) refuse('it has too many references between images (iref, grpl)')
  const ids = Array.from({ length: count }, () => body.uint(idWidth))
  return { box, type: box.type, ids, countAt, countWidth, idsAt, idWidth }
}
