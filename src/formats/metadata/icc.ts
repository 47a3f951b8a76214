/** ICC profiles (ICC.1:2022): whether something is one, and where it ends. */
import { latin1 } from '../bytes/text.ts'

/** Length of the header and the number of tags behind it. Unit: bytes. */
export const ICC_HEADER_BYTES = 132

const TAG_BYTES = 12
const SIGNATURE_AT = 36

/** A profile of a display or camera has a few kilobytes; one with tables for printing a few megabytes. Unit: bytes. */
export const MAX_PROFILE_BYTES = 4 * 1024 * 1024

/**
 * Length of the profile that starts so, as it says itself (7.2.2). `available`: how much there is. `null` if it is no
 * profile that a decoder takes. Unit: bytes.
 */
export function profileLength(start: Uint8Array, available: number): number | null {
  if (start.length < ICC_HEADER_BYTES) return null
  const view = new DataView(start.buffer, start.byteOffset, start.length)
  const length = view.getUint32(0)
  const tagBytes = view.getUint32(ICC_HEADER_BYTES - 4) * TAG_BYTES
  if (latin1(start.subarray(SIGNATURE_AT, SIGNATURE_AT + 4)) !== 'acsp') return null
  return length <= available && ICC_HEADER_BYTES + tagBytes <= length ? length : null
}
