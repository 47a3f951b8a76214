/** Colour information in the properties of a HEIF image (ISO/IEC 23008-12, 6.5.5). */
import { MAX_PROFILE_BYTES, validProfile } from '../metadata/icc.ts'
import type { Item } from './meta.ts'

export interface Colour {
  /** An ICC profile. */
  profile: Uint8Array | null
  /** Code points of ITU-T H.273. 2: unspecified. */
  primaries: number
  transfer: number
}

/** PQ and HLG (ITU-T H.273, 8.2). */
export function isHdrTransfer(transfer: number): boolean {
  return transfer === 16 || transfer === 18
}

/**
 * Colour of the primary item, or else of its first tile: encoders write it to either. An ICC profile takes precedence over code
 * points (MIAF, 7.3.6.4).
 */
export function colourOf(primary: Item, tile: Item = primary): Colour {
  const colour: Colour = { profile: null, primaries: 2, transfer: 2 }
  for (const item of [tile, primary]) {
    for (const { property } of item.properties) {
      if (property.box.type !== 'colr') continue
      const fields = property.read()
      const kind = fields.code()
      if (kind === 'nclx') {
        colour.primaries = fields.u16()
        colour.transfer = fields.u16()
      } else if ((kind === 'prof' || kind === 'rICC') && fields.left <= MAX_PROFILE_BYTES) {
        colour.profile = validProfile(fields.rest().slice())
      }
    }
  }
  return colour
}
