/**
 * The `meta` box of a HEIF file (ISO/IEC 23008-12): its items and what is said of them, with the place of all that may be cut.
 */
import { type Box, Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, readRun } from '../bmff/file.ts'

/** Most items. A grid of 200 megapixels in tiles of 512 has some 800. */
export const MAX_ITEMS = 8192

/** Most bytes of description that are held in memory, for a file. Real ones take a few kilobytes. */
export const MAX_INDEX_BYTES = 4 * 1024 * 1024

/** Most stretches of data, over all items. Encoders write one an item. */
const MAX_EXTENTS = 16_384

/** Most properties of all items: a handful for each. */
const MAX_ASSOCIATIONS = 2 ** 16

/** Most items that references name, and most that groups name, over all of their lists. */
const MAX_REFERENCES = 2 ** 16

export interface Item {
  id: number
  /** `av01`, `grid`, `Exif`, …; empty for items that older versions describe by media type alone. */
  type: string
  contentType: string
  /** Not meant to be shown by itself (23008-12, 6.4.2). */
  isHidden: boolean
  /** Where its data is, in order. `null`: not in this file, or in a way that no viewer of AVIF reads. */
  extents: Run[] | null
  /** The farthest byte of the file that its place names, 0 if it names none. */
  reach: number
  /** Fields of its place that no viewer of AVIF reads. */
  spare: Run[]
  properties: Association[]
  /** What a derived image is made of, in order. */
  inputs: number[]
  /** Its `infe` box, and where in it the name starts. */
  info: Box
  nameAt: number
}

export interface Property {
  box: Box
  /** Its contents. Each reading starts at the beginning. */
  read(): Fields
}

/** That an item has a property. */
export interface Association {
  property: Property
  /** A reader that does not know the property must not show the item. */
  essential: boolean
  /** Place and width of the field whose highest bit says `essential`; the rest of it is `index`. */
  at: number
  width: number
  index: number
}

/** The bytes of a list's entry about one item. */
export interface Entry extends Run {
  id: number
}

/** A list that says how many entries it has. */
interface CountedList {
  box: Box
  /** The boxes around it, the innermost first. */
  parents: Box[]
  /** The fields of its box or of a box around it. */
  fields: Fields
  countAt: number
  countWidth: number
  /** After the last entry. */
  end: number
}

/** One entry for each item that it describes: `iinf`, `iloc`, `ipma`. */
export interface ItemList extends CountedList {
  entries: Entry[]
}

/** Ids of one width: what an item refers to (`iref`), or what a group is made of (`grpl`). */
export interface IdList extends CountedList {
  /** The item that refers; `null` for a group. */
  from: number | null
  ids: number[]
  idWidth: number
}

/** A box, and all of its bytes. */
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
  /** The children that are read, by type. */
  parts: Map<string, Part>
  /** Data that is kept in the box itself. */
  idat: Box | null
}

/** Boxes that are read. Each may be there once. */
const READ_TYPES: ReadonlySet<string> = new Set([
  ...['hdlr', 'pitm', 'iloc', 'iinf', 'iref', 'iprp', 'grpl', 'dinf'],
])

/** Reads a `meta` box, but not its `idat`. `null` if it is not about images. */
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
    refuse('iinf does not hold as many items as it says')
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
  const [extents, reach, spare, properties, inputs] = [null, 0, [], [], []]
  return { id, type, contentType, isHidden, extents, reach, spare, properties, inputs, info, nameAt }
}

const IN_FILE = 0
const IN_IDAT = 1

/**
 * Sets the extents of the items, each of them inside the file or inside `idat` (14496-12, 8.11.3). `fileBytes`: size of the
 * file.
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
    const method = version === 0 ? IN_FILE : fields.u16() & 15
    // The data reference: viewers of AVIF read this file whatever it says, and so does this walk.
    fields.skip(2)
    const base = fields.uint(baseWidth)
    const extentCount = fields.u16()
    extentsLeft -= extentCount
    if (extentsLeft < 0) refuse('its items lie in too many pieces (iloc)')
    const item = meta.items.get(id)
    const extents: Run[] = []
    for (let n = 0; n < extentCount; n++) {
      // The index is for places in other items.
      if (indexWidth > 0) item?.spare.push({ start: fields.at, end: fields.at + indexWidth })
      fields.uint(indexWidth)
      const offset = base + fields.uint(offsetWidth)
      const length = fields.uint(lengthWidth)
      if (!item || method > IN_IDAT) continue
      const extent = placed(method, offset, length, meta.idat, fileBytes)
      extents.push(extent)
      if (method === IN_FILE) item.reach = Math.max(item.reach, extent.end)
    }
    if (item && method <= IN_IDAT) item.extents = extents.filter((extent) => extent.end > extent.start)
    entries.push({ id, start, end: fields.at })
  }
  meta.lists.push({ box, parents: [meta.box], fields, countAt, countWidth, entries, end: fields.at })
}

function placed(method: number, offset: number, length: number, idat: Box | null, fileBytes: number): Run {
  const start = method === IN_FILE ? offset : (idat?.body ?? Number.POSITIVE_INFINITY) + offset
  const limit = method === IN_FILE ? fileBytes : (idat?.end ?? 0)
  if (!(start + length <= limit)) refuse('it is cut off: an item lies outside it')
  return { start, end: start + length }
}

/** 23008-12, 9.3: size, rotation, crop, codec settings. */
function readProperties(box: Box, fields: Fields, meta: Meta): void {
  const boxes = fields.boxes()
  const [container, ...others] = boxes.filter(({ type }) => type === 'ipco')
  if (!container || others.length > 0) refuse('iprp does not hold one ipco')
  meta.propertyBoxes = boxes
  meta.properties = fields
    .bodyOf(container)
    .boxes()
    .map((property) => ({ box: property, read: () => fields.bodyOf(property) }))
  // Every item has one list, in one of these boxes.
  const taken = { items: new Set<number>(), left: MAX_ASSOCIATIONS }
  for (const child of boxes) {
    if (child.type === 'ipma') readAssociations(child, [box, meta.box], fields.bodyOf(child), meta, taken)
  }
}

function readAssociations(
  box: Box,
  parents: Box[],
  fields: Fields,
  meta: Meta,
  taken: { items: Set<number>; left: number },
): void {
  const { version, flags } = fields.versionAndFlags()
  const countAt = fields.at
  const count = fields.u32()
  if (count + taken.items.size > MAX_ITEMS) refuse('it has too many items')
  const entries: Entry[] = []
  for (let i = 0; i < count; i++) {
    const start = fields.at
    const id = fields.uint(version === 0 ? 2 : 4)
    if (taken.items.has(id)) refuse('ipma lists an item twice')
    taken.items.add(id)
    const associations = fields.u8()
    taken.left -= associations
    if (taken.left < 0) refuse('its images have too many properties (ipma)')
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
  const form = { parents: [parent, meta.box], fields, countWidth: 2, idWidth }
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    const from = body.uint(idWidth)
    const list = readIds(box, body, { ...form, from }, budget)
    meta.references.push(list)
    const item = box.type === 'dimg' && meta.items.get(from)
    if (!item) continue
    if (item.inputs.length > 0) refuse('an image has two lists of inputs (dimg)')
    item.inputs = list.ids
  }
}

/** 14496-12, 8.18.3. */
function readGroups(parent: Box, fields: Fields, meta: Meta): void {
  const form = { parents: [parent, meta.box], fields, from: null, countWidth: 4, idWidth: 4 }
  const budget = { ids: MAX_REFERENCES }
  for (const box of fields.boxes()) {
    const body = fields.bodyOf(box)
    body.skip(8)
    meta.groups.push(readIds(box, body, form, budget))
  }
}

function readIds(
  box: Box,
  body: Fields,
  form: Omit<IdList, 'box' | 'ids' | 'countAt' | 'end'>,
  budget: { ids: number },
): IdList {
  const countAt = body.at
  const count = body.uint(form.countWidth)
  if (count * form.idWidth > body.left) refuse('a list of items in iref or grpl is cut off')
  budget.ids -= count
  if (budget.ids < 0) refuse('it has too many references between images (iref, grpl)')
  const ids = Array.from({ length: count }, () => body.uint(form.idWidth))
  return { ...form, box, ids, countAt, end: body.at }
}

/** The first property of a type that the item has. */
export function propertyOf(item: Item, type: string): Fields | null {
  const found = item.properties.find(({ property }) => property.box.type === type)
  return found?.property.read() ?? null
}

/** Longer than any that is known. Thousands of items may share one text. Unit: bytes. */
const MAX_TYPE_BYTES = 128

/** What an auxiliary image is (23008-12, 6.5.8). Empty for what is none. */
export function auxiliaryType(item: Item): string {
  const fields = propertyOf(item, 'auxC')
  if (!fields || fields.left < 4) return ''
  const start = fields.at + 4
  return fields.within(start, Math.min(fields.end, start + MAX_TYPE_BYTES)).text()
}

/** Width and height before any transformation (23008-12, 6.5.3). Unit: pixels. */
export function spatialExtent(item: Item): { width: number; height: number } {
  const fields = propertyOf(item, 'ispe')
  if (!fields) return refuse('an image has no ispe property')
  fields.skip(4)
  return { width: fields.u32(), height: fields.u32() }
}

/**
 * Width and height after the crop and the rotation that its properties declare, which act in the order in which the item
 * has them (23008-12, 6.5.1). A mirror changes no size. Unit: pixels.
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

/** 14496-12, 12.1.4: 32 bits each. Offsets are signed. */
function fraction(fields: Fields): number {
  const [numerator, denominator] = [fields.u32() | 0, fields.u32() | 0]
  return denominator > 0 ? numerator / denominator : refuse('its crop (clap) lies outside the image')
}

/** The side that a crop of `length`, its centre `offset` from the middle, leaves. Unit: pixels. */
function cropped(side: number, length: number, offset: number): number {
  const start = Math.floor(offset + (side - length) / 2)
  const end = start + Math.round(length)
  const left = Math.min(side, end) - Math.max(0, start)
  return left > 0 ? left : refuse('its crop (clap) lies outside the image')
}
