/**
 * Parses the `meta` box of a HEIF file (ISO/IEC 23008-12): items, their metadata, and the offsets of everything that may be
 * cut out.
 */
import { type Box, Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, readRun } from '../bmff/file.ts'

/** Limit on items. A grid of 200 megapixels in tiles of 512 by 512 has about 800. */
export const MAX_ITEMS = 8192

/** Limit on metadata held in memory per file. Real files have a few kilobytes. Unit: bytes. */
export const MAX_INDEX_BYTES = 4 * 1024 * 1024

/** Limit on extents of all items. Encoders write one per item. */
const MAX_EXTENTS = 16_384

/** Limit on property associations of all items. A handful per item is usual. */
const MAX_ASSOCIATIONS = 2 ** 16

/** Limit on the IDs in all reference lists, and on those in all groups. */
const MAX_REFERENCES = 2 ** 16

export interface Item {
  id: number
  /** `av01`, `grid`, `Exif`, …; empty in older versions of `infe`, which have only a media type. */
  type: string
  contentType: string
  /** Not intended to be displayed on its own (23008-12, 6.4.2). */
  isHidden: boolean
  /** The ranges of its data, in order. `null`: not in this file, or addressed in a way that AVIF viewers do not support. */
  extents: Run[] | null
  /** End of its last extent that is addressed by file offset; 0 when there is none. */
  addressedEnd: number
  /** Fields of its location that AVIF viewers ignore. */
  ignoredFields: Run[]
  properties: Association[]
  /** IDs of the inputs of a derived image, in order. */
  inputs: number[]
  /** Its `infe` box, and the offset of the name in it. */
  info: Box
  nameAt: number
}

export interface Property {
  box: Box
  /** A new reader for its contents. */
  read(): Fields
}

/** The association of an item with a property. */
export interface Association {
  property: Property
  /** A reader that does not know the property must not show the item. */
  essential: boolean
  /** Offset and width of the association field. Its highest bit is `essential`, the other bits are `index`. */
  at: number
  width: number
  index: number
}

/** The bytes of a list entry for one item. */
export interface Entry extends Run {
  id: number
}

/** A list with a count field. */
interface CountedList {
  box: Box
  /** The enclosing boxes, innermost first. */
  parents: Box[]
  /** A reader that covers its box. */
  fields: Fields
  countAt: number
  countWidth: number
  /** Offset after the last entry. */
  end: number
}

/** A list with one entry per item: `iinf`, `iloc`, `ipma`. */
export interface ItemList extends CountedList {
  entries: Entry[]
}

/** A list of IDs of one width: the references of an item (`iref`), or the members of a group (`grpl`). */
export interface IdList extends CountedList {
  /** The referring item; `null` for a group. */
  from: number | null
  ids: number[]
  idWidth: number
}

/** A box, and a reader for all of its bytes. */
interface Part {
  box: Box
  fields: Fields
}

export interface Meta {
  box: Box
  children: Box[]
  primary: number | null
  items: Map<number, Item>
  properties: Property[]
  /** The children of `iprp`. */
  propertyBoxes: Box[]
  references: IdList[]
  groups: IdList[]
  lists: ItemList[]
  /** The parsed children, by type. */
  parts: Map<string, Part>
  /** Item data stored in the `meta` box itself. */
  idat: Box | null
}

/** Boxes that are parsed. Each may occur only once. */
const READ_TYPES: ReadonlySet<string> = new Set('hdlr pitm iloc iinf iref iprp grpl dinf'.split(' '))

/** Parses a `meta` box, except for its `idat`. `null` when it does not describe images. */
export async function readMeta(file: BoxFile, box: Box): Promise<Meta | null> {
  if (box.end - box.body < 4) refuse('its meta box is cut off')
  const { boxes: children, end } = await boxesIn(file, { start: box.body + 4, end: box.end })
  if (end !== box.end) refuse('a box is larger than the one around it')
  const parts = new Map<string, Part>()
  let indexBytes = 0
  for (const child of children) {
    if (!READ_TYPES.has(child.type)) continue
    if (parts.has(child.type)) refuse(`it has two ${child.type} boxes`)
    indexBytes += child.end - child.start
    if (indexBytes > MAX_INDEX_BYTES) refuse('its description is too large')
    parts.set(child.type, { box: child, fields: new Fields(await readRun(file, child), child.start) })
  }
  const [idat = null, ...more] = children.filter(({ type }) => type === 'idat')
  if (more.length > 0) refuse('it has two idat boxes')

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
    idat,
  }
  const read = <T>(type: string, reader: (box: Box, body: Fields, meta: Meta) => T): T | undefined => {
    const part = parts.get(type)
    return part && reader(part.box, part.fields.bodyOf(part.box), meta)
  }
  if (read('hdlr', (_, body) => handlerOf(body)) !== 'pict') return null
  meta.primary = read('pitm', (_, body) => body.uint(body.versionAndFlags().version === 0 ? 2 : 4)) ?? null
  read('iinf', readInfos)
  read('iloc', (box, body) => readLocations(box, body, meta, file.source.size))
  read('iprp', readProperties)
  read('iref', readReferences)
  read('grpl', readGroups)
  return meta
}

/** 14496-12, 8.4.3. */
export function handlerOf(body: Fields): string {
  body.skip(8)
  return body.code()
}

/** 14496-12, 8.11.6. */
function readInfos(box: Box, fields: Fields, meta: Meta): void {
  const countWidth = fields.versionAndFlags().version === 0 ? 2 : 4
  const countAt = fields.at
  const count = fields.uint(countWidth)
  const boxes = fields.boxes()
  if (boxes.length !== count || boxes.some(({ type }) => type !== 'infe'))
    refuse('the number of items in iinf does not match its count')
  if (count > MAX_ITEMS) refuse('it has too many items')
  const entries = boxes.map((info): Entry => {
    const item = readInfo(info, fields.bodyOf(info))
    if (meta.items.has(item.id)) refuse('iinf lists an item twice')
    meta.items.set(item.id, item)
    return { id: item.id, start: info.start, end: info.end }
  })
  meta.lists.push({ box, parents: [meta.box], fields, countAt, countWidth, entries, end: box.end })
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
    ...{ id, type, contentType, isHidden, info, nameAt },
    ...{ extents: null, addressedEnd: 0, ignoredFields: [], properties: [], inputs: [] },
  }
}

const IN_FILE = 0
const IN_IDAT = 1

/**
 * Sets the extents of the items, each inside the file or inside `idat` (14496-12, 8.11.3). `fileBytes`: size of the file.
 */
function readLocations(box: Box, fields: Fields, meta: Meta, fileBytes: number): void {
  const { version } = fields.versionAndFlags()
  if (version > 2) refuse('iloc has an unknown version')
  const sizes = fields.u16()
  const [offsetWidth, lengthWidth, baseWidth] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexWidth = version === 0 ? 0 : sizes & 15
  const countWidth = version < 2 ? 2 : 4
  const countAt = fields.at
  const count = fields.uint(countWidth)
  if (count > MAX_ITEMS) refuse('it has too many items')
  const entries: Entry[] = []
  const seen = new Set<number>()
  let extentsLeft = MAX_EXTENTS

  for (let i = 0; i < count; i++) {
    const start = fields.at
    const id = fields.uint(version < 2 ? 2 : 4)
    if (seen.has(id)) refuse('iloc lists an item twice')
    seen.add(id)
    const method = version === 0 ? IN_FILE : fields.u16()
    if (method > 15) refuse('iloc uses reserved bits')
    const item = meta.items.get(id)
    // Ignore the data reference, as AVIF viewers do: they always read the file itself.
    item?.ignoredFields.push({ start: fields.at, end: fields.at + 2 })
    fields.skip(2)
    const base = fields.uint(baseWidth)
    const extentCount = fields.u16()
    extentsLeft -= extentCount
    if (extentsLeft < 0) refuse('its items are split into too many pieces (iloc)')
    const extents: Run[] = []
    for (let n = 0; n < extentCount; n++) {
      // The index is only used for locations inside other items.
      if (indexWidth > 0) item?.ignoredFields.push({ start: fields.at, end: fields.at + indexWidth })
      fields.uint(indexWidth)
      const offset = base + fields.uint(offsetWidth)
      const length = fields.uint(lengthWidth)
      if (!item || method > IN_IDAT) continue
      const extent = resolvedExtent(method, offset, length, meta.idat, fileBytes)
      extents.push(extent)
      if (method === IN_FILE) item.addressedEnd = Math.max(item.addressedEnd, extent.end)
    }
    if (item && method <= IN_IDAT) item.extents = extents.filter((extent) => extent.end > extent.start)
    entries.push({ id, start, end: fields.at })
  }
  meta.lists.push({ box, parents: [meta.box], fields, countAt, countWidth, entries, end: fields.at })
}

function resolvedExtent(
  method: number,
  offset: number,
  length: number,
  idat: Box | null,
  fileBytes: number,
): Run {
  const start = method === IN_FILE ? offset : (idat?.body ?? Number.POSITIVE_INFINITY) + offset
  const limit = method === IN_FILE ? fileBytes : (idat?.end ?? 0)
  if (!(start + length <= limit)) refuse('it is cut off: an item lies outside it')
  return { start, end: start + length }
}

/** 23008-12, 9.3: size, rotation, crop, codec settings. */
function readProperties(box: Box, fields: Fields, meta: Meta): void {
  const boxes = fields.boxes()
  const [container, ...others] = boxes.filter(({ type }) => type === 'ipco')
  if (!container || others.length > 0) refuse('iprp does not contain exactly one ipco')
  meta.propertyBoxes = boxes
  meta.properties = fields
    .bodyOf(container)
    .boxes()
    .map((property) => ({ box: property, read: () => fields.bodyOf(property) }))
  // Each item has one list, in any of the `ipma` boxes.
  const assigned = { items: new Set<number>(), left: MAX_ASSOCIATIONS }
  for (const child of boxes) {
    if (child.type === 'ipma') readAssociations(child, [box, meta.box], fields.bodyOf(child), meta, assigned)
  }
}

function readAssociations(
  box: Box,
  parents: Box[],
  fields: Fields,
  meta: Meta,
  assigned: { items: Set<number>; left: number },
): void {
  const { version, flags } = fields.versionAndFlags()
  const countAt = fields.at
  const count = fields.u32()
  if (count + assigned.items.size > MAX_ITEMS) refuse('it has too many items')
  const entries: Entry[] = []
  for (let i = 0; i < count; i++) {
    const start = fields.at
    const id = fields.uint(version === 0 ? 2 : 4)
    if (assigned.items.has(id)) refuse('ipma lists an item twice')
    assigned.items.add(id)
    const associations = fields.u8()
    assigned.left -= associations
    if (assigned.left < 0) refuse('its images have too many properties (ipma)')
    const item = meta.items.get(id)
    for (let n = 0; n < associations; n++) {
      const association = readAssociation(fields, (flags & 1) === 1, meta.properties)
      if (association) item?.properties.push(association)
    }
    entries.push({ id, start, end: fields.at })
  }
  meta.lists.push({ box, parents, fields, countAt, countWidth: 4, entries, end: fields.at })
}

function readAssociation(fields: Fields, wide: boolean, properties: Property[]): Association | null {
  const at = fields.at
  const value = wide ? fields.u16() : fields.u8()
  const essentialBit = wide ? 0x8000 : 0x80
  const index = value & (essentialBit - 1)
  if (index === 0) return null
  const property = properties[index - 1]
  if (!property) refuse('ipma names a property that is not in ipco')
  return { property, essential: value >= essentialBit, at, width: wide ? 2 : 1, index }
}

/** 14496-12, 8.11.12. */
function readReferences(parent: Box, fields: Fields, meta: Meta): void {
  const idWidth = fields.versionAndFlags().version === 0 ? 2 : 4
  const common = { parents: [parent, meta.box], fields, countWidth: 2, idWidth }
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    const from = body.uint(idWidth)
    const list = readIds(box, body, { ...common, from }, budget)
    meta.references.push(list)
    const item = box.type === 'dimg' && meta.items.get(from)
    if (!item) continue
    if (item.inputs.length > 0) refuse('an image has two lists of inputs (dimg)')
    item.inputs = list.ids
  }
}

/** 14496-12, 8.18.3. */
function readGroups(parent: Box, fields: Fields, meta: Meta): void {
  const common = { parents: [parent, meta.box], fields, from: null, countWidth: 4, idWidth: 4 }
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    body.skip(8)
    meta.groups.push(readIds(box, body, common, budget))
  }
}

function readIds(
  box: Box,
  body: Fields,
  common: Omit<IdList, 'box' | 'ids' | 'countAt' | 'end'>,
  budget: { ids: number },
): IdList {
  const countAt = body.at
  const count = body.uint(common.countWidth)
  if (count * common.idWidth > body.left) refuse('a list of items in iref or grpl is cut off')
  budget.ids -= count
  if (budget.ids < 0) refuse('it has too many references between images (iref, grpl)')
  const ids = Array.from({ length: count }, () => body.uint(common.idWidth))
  return { ...common, box, ids, countAt, end: body.at }
}

/** The first property of a type that the item has. */
export function propertyOf(item: Item, type: string): Fields | null {
  const found = item.properties.find(({ property }) => property.box.type === type)
  return found?.property.read() ?? null
}

/** Longer than any known type. Limited because thousands of items may share one text. Unit: bytes. */
const MAX_TYPE_BYTES = 128

/** The type of an auxiliary image (23008-12, 6.5.8). Empty for other items. */
export function auxiliaryType(item: Item): string {
  const fields = propertyOf(item, 'auxC')
  if (!fields || fields.left < 4) return ''
  const start = fields.at + 4
  return fields.within(start, Math.min(fields.end, start + MAX_TYPE_BYTES)).text()
}

/** Size before transformations (23008-12, 6.5.3). Unit: pixels. */
export function spatialExtent(item: Item): { width: number; height: number } {
  const fields = propertyOf(item, 'ispe')
  if (!fields) return refuse('an image has no ispe property')
  fields.skip(4)
  return { width: fields.u32(), height: fields.u32() }
}

/**
 * Size after crops and rotations, applied in the order of the item's properties (23008-12, 6.5.1). Mirrors do not change the
 * size. Unit: pixels.
 */
export function displayedSize(image: Item): { width: number; height: number } {
  let { width, height } = spatialExtent(image)
  for (const { property } of image.properties) {
    if (property.box.type === 'irot' && property.read().u8() & 1) [width, height] = [height, width]
    if (property.box.type === 'clap') {
      const fields = property.read()
      const crop = Array.from({ length: 4 }, () => fraction(fields))
      width = cropped(width, crop[0]!, crop[2]!)
      height = cropped(height, crop[1]!, crop[3]!)
    }
  }
  return { width, height }
}

/** 14496-12, 12.1.4: numerator and denominator of 32 bits. Offsets are signed. */
function fraction(fields: Fields): number {
  const [numerator, denominator] = [fields.u32() | 0, fields.u32() | 0]
  return denominator > 0 ? numerator / denominator : refuse('its crop (clap) lies outside the image')
}

/** Length of a side after a crop to `length`, with its centre `offset` from the middle. Unit: pixels. */
function cropped(side: number, length: number, offset: number): number {
  const start = Math.floor(offset + (side - length) / 2)
  const end = start + Math.round(length)
  const left = Math.min(side, end) - Math.max(0, start)
  return left > 0 ? left : refuse('its crop (clap) lies outside the image')
}
