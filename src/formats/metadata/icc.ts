/** ICC profiles (ICC.1:2022): recognizes a profile, finds its end, and removes what identifies a display. */
import { sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'

/** Length of the header and the tag count that follows it. Unit: bytes. */
export const ICC_HEADER_BYTES = 132

const TAG_BYTES = 12
const SIGNATURE_AT = 36

/** Date and time of creation (7.2.8): macOS creates a profile for each display. A date is required: the first of 2000. */
const CREATED_AT = 24
const SOME_TIME = Uint8Array.of(7, 208, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0)

/** A digest of the profile; zero when it was not computed (7.2.18). */
const PROFILE_ID = { start: 84, end: 100 }

/** Apple's tag `mmod`: maker, model, serial number and date of manufacture of a display, after the type of the data. */
const DISPLAY_TAG = 0x6d6d6f64
const TYPE_BYTES = 8

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

/**
 * The profile at the start of `bytes` without the serial number of the display and the time of its creation, if it is one that
 * macOS adds to screenshots. `null` when there is no whole profile, or nothing to remove.
 */
export function withoutDisplay(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const profile = validProfile(bytes)
  if (profile === null) return null
  const view = new DataView(profile.buffer, profile.byteOffset, profile.length)
  const tagsEnd = ICC_HEADER_BYTES + view.getUint32(ICC_HEADER_BYTES - 4) * TAG_BYTES
  let at = ICC_HEADER_BYTES
  while (at < tagsEnd && view.getUint32(at) !== DISPLAY_TAG) at += TAG_BYTES
  if (at === tagsEnd) return null
  const start = view.getUint32(at + 4)
  if (start < tagsEnd) return null
  const changed = profile.slice().fill(0, start + TYPE_BYTES, start + view.getUint32(at + 8))
  changed.fill(0, PROFILE_ID.start, PROFILE_ID.end).set(SOME_TIME, CREATED_AT)
  return sameBytes(changed, profile) ? null : changed
}
