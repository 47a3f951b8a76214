/** How long the description of a derived image is. What stands behind it, no reader looks at. */
import type { Fields } from '../bmff/fields.ts'

/** Unit: bytes from the start of the item's data. What is left unread of a description that is cut off counts as its tail. */
export function descriptionBytes(type: string, fields: Fields, inputs: number): number {
  const start = fields.at
  if (type === 'tmap') return toneMapBytes(fields)
  if (type === 'sato') skipExpression(fields)
  else skipCanvas(type, fields, inputs)
  return fields.at - start
}

/** Grids (23008-12, 6.6.2.3) and overlays (6.6.2.2). */
function skipCanvas(type: string, fields: Fields, inputs: number): void {
  fields.skip(1)
  const width = fields.u8() & 1 ? 4 : 2
  fields.skip(type === 'grid' ? 2 + 2 * width : 8 + (2 + 2 * inputs) * width)
}

/** ISO 21496-1, annex C.2, behind a version of its own (AVIF 1.2, 4.2.2). Of another version nothing is read. */
function toneMapBytes(fields: Fields): number {
  const version = fields.u8()
  const minimumVersion = fields.u16()
  fields.skip(2)
  if (version !== 0 || minimumVersion !== 0) return 3
  const flags = fields.u8()
  const channels = flags & 0x80 ? 3 : 1
  return 6 + (flags & 0x08 ? 4 + 8 + 20 * channels : 16 + 40 * channels)
}

/** A sample transform (AVIF 1.2, 4.2.3.2): tokens, of which constants bring their value along. */
function skipExpression(fields: Fields): void {
  const constantBytes = 1 << (fields.u8() & 3)
  for (let tokens = fields.u8(); tokens > 0; tokens--) if (fields.u8() === 0) fields.skip(constantBytes)
}
