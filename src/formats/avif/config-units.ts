/** The units in `av1C` (AV1 in ISOBMFF, 2.3): of them, decoders read the sequence header alone. */
import type { Edit } from '../bmff/edits.ts'
import { type Box, type Fields, refuse } from '../bmff/fields.ts'
import { written } from '../bmff/spare.ts'
import { type Obu, obuFrom, PADDING, SEQUENCE_HEADER, TRAILING_BITS } from './obu.ts'
import { type SequenceHeader, sequenceHeader, withoutTail } from './sequence-header.ts'

const HEADER_BYTES = 4

/** Encoders write one or none. Thousands of items may share one property, and each looks at its units. */
const MAX_UNITS = 16
/** Far more than a sequence header takes. Unit: bytes. */
const MAX_BYTES = 64 * 1024

/** What `av1C` says (AV1 in ISOBMFF, 2.3.3). */
export interface CodecSettings {
  /** Sequence header that belongs before the data, if there is one. */
  sequence: SequenceHeader | null
}

/** `fields`: of the property. Throws `Refusal('damaged-image')` if it is none. */
export function codecSettings(fields: Fields | null): CodecSettings {
  if (!fields || fields.left < HEADER_BYTES || fields.u8() !== 0x81)
    return refuse('an image has no valid av1C property')
  fields.skip(HEADER_BYTES - 1)
  for (const { bytes, obu } of unitsIn(fields)) {
    if (obu?.type === SEQUENCE_HEADER) return { sequence: sequenceHeader(bytes.subarray(obu.body)) }
  }
  return { sequence: null }
}

/** Makes padding of all but the sequence headers, also of what stands behind a header in its unit. The box keeps its length. */
export function configEdits(fields: Fields, { body, end }: Box): Edit[] {
  const edits: Edit[] = []
  for (const { at, bytes, obu } of unitsIn(fields.within(Math.min(end, body + HEADER_BYTES), end))) {
    if (obu?.type === SEQUENCE_HEADER) {
      const payload = bytes.subarray(obu.body)
      edits.push(...written(fields, at + obu.body, withoutTail(payload, sequenceHeader(payload))))
    } else {
      edits.push(...written(fields, at, paddingOf(bytes, obu)))
    }
  }
  return edits
}

interface ConfigUnit {
  /** Where it starts in the file. */
  at: number
  bytes: Uint8Array
  /** `null` for what is no unit: all that is left. */
  obu: Obu | null
}

function* unitsIn(fields: Fields): Generator<ConfigUnit> {
  if (fields.left > MAX_BYTES) refuse('an av1C property is too long')
  for (let count = 0; fields.left > 0; count++) {
    if (count === MAX_UNITS) refuse('an av1C property is too long')
    const { at, left, end } = fields
    const obu = obuFrom(fields.within(at, end).rest(), left)
    const length = obu ? obu.body + obu.size : left
    yield length > left ? { at, bytes: fields.rest(), obu: null } : { at, bytes: fields.take(length), obu }
  }
}

/** Padding as long as the unit. What is no unit becomes one without a size, which takes what is left. */
function paddingOf(bytes: Uint8Array, obu: Obu | null): Uint8Array {
  const body = obu?.body ?? 1
  const padding = bytes.slice().fill(0, body)
  padding[0] = ((obu ? padding[0]! : 0) & 0x87) | (PADDING << 3)
  if (padding.length > body) padding[padding.length - 1] = TRAILING_BITS
  return padding
}
