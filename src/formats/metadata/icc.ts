/** ICC profiles (ICC.1:2022): recognizes a profile, finds its end, and removes what identifies a display. */
import { latin1 } from '../bytes/text.ts'
import type { Segment } from '../image.ts'

/** Length of the header and the tag count that follows it. Unit: bytes. */
const ICC_HEADER_BYTES = 132

const TAG_BYTES = 12
const SIGNATURE_AT = 36

/** Date and time of creation (7.2.8): systems create a profile for each display. A date is required: the first of 2000. */
const CREATED_AT = 24
const SOME_TIME = Uint8Array.of(7, 208, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0)

/** A digest of the profile; zero when it was not computed (7.2.18). */
const PROFILE_ID = { start: 84, end: 100 }

/**
 * Tags with the maker, model and serial number of a display, after the type of the data: Apple's `mmod`, and `meta` with
 * the EDID, of colord (GNOME and others) and DisplayCAL. No viewer reads them.
 */
const DISPLAY_TAGS: ReadonlySet<number> = new Set([0x6d6d6f64, 0x6d657461])
const TYPE_BYTES = 8

/** Replaces the first letter of their names, which makes them private tags: readers skip those (7.3.2). */
const PRIVATE_LETTER = 0x78

/** Source of all zeros. Real display tags take up to a few kilobytes. */
const ZEROS = new Uint8Array(64 * 1024)

/** Little CMS rejects profiles with more. */
const MAX_TAGS = 100

/** Enough for the header and all entries of the tag table. Unit: bytes. */
export const ICC_START_BYTES = ICC_HEADER_BYTES + MAX_TAGS * TAG_BYTES

/** Display and camera profiles take a few kilobytes; print profiles with tables, a few megabytes. Unit: bytes. */
export const MAX_PROFILE_BYTES = 4 * 1024 * 1024

export interface Profile {
  /** Declared in its header (7.2.2). Unit: bytes. */
  length: number
  /**
   * Bytes to overwrite, in order, so that the profile contains neither the serial number of the display nor the time of its
   * creation. Empty unless it is one that desktops add to screenshots.
   */
  edits: { at: number; bytes: Uint8Array }[]
}

/**
 * Reads a profile. `start`: its first `ICC_START_BYTES` or more, or all there are; `available`: how many bytes there are in
 * total, so that a large profile need not be in memory. `null` when decoders would reject it, or its display tags are longer
 * than any real ones.
 */
export function readProfile(start: Uint8Array, available: number): Profile | null {
  if (start.length < ICC_HEADER_BYTES) return null
  const view = new DataView(start.buffer, start.byteOffset, start.length)
  const length = view.getUint32(0)
  const tagsEnd = ICC_HEADER_BYTES + view.getUint32(ICC_HEADER_BYTES - 4) * TAG_BYTES
  if (latin1(start.subarray(SIGNATURE_AT, SIGNATURE_AT + 4)) !== 'acsp' || length > available) return null
  if (tagsEnd > Math.min(start.length, length, ICC_START_BYTES)) return null

  const changed = start.slice(0, tagsEnd)
  const display: { start: number; end: number }[] = []
  for (let at = ICC_HEADER_BYTES; at < tagsEnd; at += TAG_BYTES) {
    if (!DISPLAY_TAGS.has(view.getUint32(at))) continue
    changed[at] = PRIVATE_LETTER
    const dataAt = view.getUint32(at + 4)
    display.push({ start: dataAt + TYPE_BYTES, end: Math.min(dataAt + view.getUint32(at + 8), length) })
  }
  if (display.length === 0) return { length, edits: [] }
  changed.fill(0, PROFILE_ID.start, PROFILE_ID.end).set(SOME_TIME, CREATED_AT)
  const edits = [{ at: 0, bytes: changed }]
  let at = tagsEnd
  for (const { start, end } of display.sort((a, b) => a.start - b.start)) {
    at = Math.max(at, start)
    if (end - at > ZEROS.length) return null
    if (end <= at) continue
    edits.push({ at, bytes: ZEROS.subarray(0, end - at) })
    at = end
  }
  return { length, edits }
}

/** The segment with the edits of the profile at `profileAt` in the file, of which it may hold a part. */
export function editedSegment(segment: Segment, profileAt: number, { edits }: Profile): Segment[] {
  if (segment instanceof Uint8Array) return [segment]
  const parts: Segment[] = []
  let at = segment.offset
  const segmentEnd = at + segment.length
  for (const edit of edits) {
    const editAt = profileAt + edit.at
    const start = Math.max(at, editAt)
    const end = Math.min(segmentEnd, editAt + edit.bytes.length)
    if (end <= start) continue
    parts.push({ offset: at, length: start - at }, edit.bytes.subarray(start - editAt, end - editAt))
    at = end
  }
  return [...parts, { offset: at, length: segmentEnd - at }]
}

/** The profile without the bytes after its end. `null` when decoders would reject it. */
export function validProfile(bytes: Uint8Array): Uint8Array | null {
  const profile = readProfile(bytes, bytes.length)
  return profile && bytes.subarray(0, profile.length)
}
