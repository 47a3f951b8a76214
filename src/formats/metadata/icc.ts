/** ICC profiles (ICC.1:2022): recognizes a profile and finds its end. */
import { latin1 } from '../bytes/text.ts'

/** Length of the header and the tag count that follows it. Unit: bytes. */
export const ICC_HEADER_BYTES = 132

const TAG_BYTES = 12
const SIGNATURE_AT = 36

/** Display and camera profiles take a few kilobytes; print profiles with tables, a few megabytes. Unit: bytes. */
export const MAX_PROFILE_BYTES = 4 * 1024 * 1024

/**
 * The length that a profile declares in its header (7.2.2). `start`: its first bytes; `available`: how many bytes there
 * are in total. `null` when decoders would reject the profile. Unit: bytes.
 */
export function profileLength(start: Uint8Array, available: number): number | null {
  if (start.length < ICC_HEADER_BYTES) return null
  const view = new DataView(start.buffer, start.byteOffset, start.length)
  const length = view.getUint32(0)
  const tagBytes = view.getUint32(ICC_HEADER_BYTES - 4) * TAG_BYTES
  if (latin1(start.subarray(SIGNATURE_AT, SIGNATURE_AT + 4)) !== 'acsp') return null
  return length <= available && ICC_HEADER_BYTES + tagBytes <= length ? length : null
}

/** The profile without the bytes after its end. `null` when decoders would reject it. */
export function validProfile(bytes: Uint8Array): Uint8Array | null {
  const length = profileLength(bytes, bytes.length)
  return length === null ? null : bytes.subarray(0, length)
}
