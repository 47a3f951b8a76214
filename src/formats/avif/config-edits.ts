/** `av1C` (AV1 in ISOBMFF, 2.3): of the units in it, decoders read the sequence header alone. */
import type { Edit } from '../bmff/edits.ts'
import type { Box, Fields } from '../bmff/fields.ts'
import { written } from '../bmff/spare.ts'
import { obuFrom, PADDING, SEQUENCE_HEADER, TRAILING_BITS } from './obu.ts'

const HEADER_BYTES = 4

/** Makes padding of every other unit, and of what is no unit. The box keeps its length. */
export function configEdits(fields: Fields, { body, end }: Box): Edit[] {
  const edits: Edit[] = []
  for (let at = Math.min(end, body + HEADER_BYTES); at < end; ) {
    const bytes = fields.within(at, end).rest()
    const unit = obuFrom(bytes, bytes.length)
    if (!unit || unit.body + unit.size > bytes.length)
      return [...edits, ...written(fields, at, paddingOf(bytes.length))]
    const length = unit.body + unit.size
    if (unit.type !== SEQUENCE_HEADER) {
      const blank = bytes.slice(0, length).fill(0, unit.body)
      blank[0] = ((bytes[0] ?? 0) & 0x87) | (PADDING << 3)
      if (unit.size > 0) blank[length - 1] = TRAILING_BITS
      edits.push(...written(fields, at, blank))
    }
    at += length
  }
  return edits
}

/** A unit without a size, which takes what is left. */
function paddingOf(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  if (length > 1) bytes[length - 1] = TRAILING_BITS
  bytes[0] = PADDING << 3
  return bytes
}
