/** Where the data of items is (ISO/IEC 14496-12, 8.11.3). */

import { type Box, type Fields, type Run, refuse } from '../bmff/fields.ts'
import { type ItemList, MAX_ITEMS, type Meta } from './items.ts'

/** Most stretches of data, over all items. Encoders write one an item. */
const MAX_EXTENTS = 16_384

const IN_FILE = 0
const IN_IDAT = 1

/** Sets the extents of the items, each of them inside the file or inside `idat`. `fileBytes`: size of the file. */
export function readLocations(box: Box, fields: Fields, meta: Meta, fileBytes: number): void {
  const { version } = fields.versionAndFlags()
  if (version > 2) refuse('iloc has an unknown version')
  const sizes = fields.u16()
  const [offsetWidth, lengthWidth, baseWidth] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexWidth = version === 0 ? 0 : sizes & 15
  const countWidth = version < 2 ? 2 : 4
  const countAt = fields.at
  const count = fields.uint(countWidth)
  if (count > MAX_ITEMS) refuse('it has too many items')
  const list: ItemList = { box, parents: [meta.box], countAt, countWidth, entries: [], entriesEnd: 0 }
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
      fields.uint(indexWidth)
      const offset = base + fields.uint(offsetWidth)
      const length = fields.uint(lengthWidth)
      if (!item || method > IN_IDAT) continue
      const extent = placed(method, offset, length, meta.idat, fileBytes)
      extents.push(extent)
      if (method === IN_FILE) item.reach = Math.max(item.reach, extent.end)
    }
    if (item && method <= IN_IDAT) item.extents = extents.filter((extent) => extent.end > extent.start)
    list.entries.push({ id, start, end: fields.at })
  }
  list.entriesEnd = fields.at
  meta.lists.push(list)
}

function placed(method: number, offset: number, length: number, idat: Box | null, fileBytes: number): Run {
  const start = method === IN_FILE ? offset : (idat?.body ?? Number.POSITIVE_INFINITY) + offset
  const limit = method === IN_FILE ? fileBytes : (idat?.end ?? 0)
  if (!(start + length <= limit)) refuse('it is cut off: an item lies outside it')
  return { start, end: start + length }
}
