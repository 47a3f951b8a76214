/** Properties of items (ISO/IEC 23008-12, 9.3): size, rotation, crop, codec settings. */

import { type Box, type Fields, refuse } from '../bmff/fields.ts'
import { type Association, type Item, type ItemList, MAX_ITEMS, type Meta, type Property } from './items.ts'

/** Most properties of all items: a handful for each. */
const MAX_ASSOCIATIONS = 2 ** 16

export function readProperties(box: Box, fields: Fields, meta: Meta): void {
  const boxes = fields.boxes()
  const [container, ...others] = boxes.filter(({ type }) => type === 'ipco')
  if (!container || others.length > 0) refuse('iprp does not hold one ipco')
  meta.propertyBoxes = boxes
  meta.properties = fields
    .within(container.body, container.end)
    .boxes()
    .map((property) => ({ box: property, read: () => fields.within(property.body, property.end) }))
  const taken = { items: new Set<number>(), left: MAX_ASSOCIATIONS }
  for (const child of boxes) {
    if (child.type !== 'ipma') continue
    const list = readAssociations(child, fields.within(child.body, child.end), meta, taken)
    list.parents = [box, meta.box]
    meta.lists.push(list)
  }
}

/** What the lists before took: every item has one list. */
interface Taken {
  items: Set<number>
  left: number
}

function readAssociations(box: Box, fields: Fields, meta: Meta, taken: Taken): ItemList {
  const { version, flags } = fields.versionAndFlags()
  const countAt = fields.at
  const count = fields.u32()
  if (count + taken.items.size > MAX_ITEMS) refuse('it has too many items')
  const list: ItemList = { box, parents: [], countAt, countWidth: 4, entries: [], entriesEnd: 0 }
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
    list.entries.push({ id, start, end: fields.at })
  }
  list.entriesEnd = fields.at
  return list
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

/** The first property of a type that the item has. */
export function propertyOf(item: Item, type: string): Fields | null {
  const found = item.properties.find(({ property }) => property.box.type === type)
  return found?.property.read() ?? null
}

/** Longer than any that is known. Thousands of items may share one text. Unit: bytes. */
const MOST_TYPE_BYTES = 128

/** What an auxiliary image is (23008-12, 6.5.8). Empty for what is none. */
export function auxiliaryType(item: Item): string {
  const fields = propertyOf(item, 'auxC')
  if (!fields || fields.left < 4) return ''
  const start = fields.at + 4
  return fields.within(start, Math.min(fields.end, start + MOST_TYPE_BYTES)).text()
}

/** Width and height before any transformation (23008-12, 6.5.3). Unit: pixels. */
export function spatialExtent(item: Item): { width: number; height: number } {
  const fields = propertyOf(item, 'ispe')
  if (!fields) return refuse('an image has no ispe property')
  fields.skip(4)
  return { width: fields.u32(), height: fields.u32() }
}
