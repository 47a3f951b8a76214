/** Describes changes to a file as a list of edits, and applies them to get the segments to keep. */
import { be32, concatBytes } from '../../bytes.ts'
import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { ascii } from '../bytes/text.ts'
import type { Segment } from '../image.ts'
import { type Box, type Fields, isZero, type Run, refuse } from './fields.ts'
import { type BoxFile, isZeroRun } from './file.ts'

/** Replaces a byte range by `bytes`; without `bytes`, by zeros of the same length. */
export interface Edit extends Run {
  readonly bytes?: Uint8Array
}

/** Source of all zero segments, so that a file cannot make the process allocate memory for them. */
const ZEROS = new Uint8Array(64 * 1024)

const FREE = ascii('free')
const NOTHING = new Uint8Array(0)

/** Boxes whose contents readers ignore (14496-12, 8.1.2); `wide` is QuickTime's. */
const FREE_TYPES: ReadonlySet<string> = new Set(['free', 'skip', 'wide'])

export function isFree(box: Box): boolean {
  return FREE_TYPES.has(box.type)
}

/** True for a free box that contains only zeros. */
export async function isEmpty(file: BoxFile, box: Box): Promise<boolean> {
  return isFree(box) && (await isZeroRun(file, { start: box.body, end: box.end }))
}

/** Zeroes the bytes from `start` to `end`. Empty when they are zero already. */
export function zeroEdits(fields: Fields, start: number, end: number): Edit[] {
  return end <= start || isZero(fields.within(start, end).rest()) ? [] : [{ start, end }]
}

/** Writes `bytes` at `start`. Empty when they are there already. */
export function writeEdits(fields: Fields, start: number, bytes: Uint8Array): Edit[] {
  const end = start + bytes.length
  return sameBytes(bytes, fields.within(start, end).rest()) ? [] : [{ start, end, bytes }]
}

/** Removes a byte range. */
export function cut({ start, end }: Run): Edit {
  return { start, end, bytes: NOTHING }
}

/** Overwrites an integer field. `width`: at most 8 bytes. */
export function overwrite(at: number, width: number, value: number): Edit {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return { start: at, end: at + width, bytes: bytes.subarray(8 - width) }
}

/** Writes a new size to the header of a box. */
export function resize(box: Box, size: number): Edit {
  return box.large ? overwrite(box.start + 8, 8, size) : overwrite(box.start, 4, size)
}

/** A well-formed file needs a few dozen. Enforced while collecting, before sorting. */
const MAX_EDITS = 8192

/** Adds an edit. Throws `Refusal('damaged-image')` when there are too many. */
export function addEdit(edits: Edit[], edit: Edit): void {
  if (edits.length >= MAX_EDITS) refuse('too many of its parts do not belong to the picture')
  edits.push(edit)
}

/** Overwrites a byte range with zeros. */
export function addZeros(edits: Edit[], { start, end }: Run): void {
  if (end > start) addEdit(edits, { start, end })
}

/** Turns a box into a zero-filled free box of the same size. */
export function addBlank(edits: Edit[], box: Box): void {
  if (!isFree(box)) addEdit(edits, { start: box.start + 4, end: box.start + 8, bytes: FREE })
  addZeros(edits, { start: box.body, end: box.end })
}

/** Inserts a zero-filled free box at `at`. `length`: of the whole box, at least 8. Unit: bytes. */
export function pad(at: number, length: number): Edit[] {
  const header = concatBytes(be32(length), FREE)
  return [header, ...zeros(length - 8)].map((bytes) => ({ start: at, end: at, bytes }))
}

/** Applies the edits to the first `end` bytes of the source. Throws when edits overlap. */
export function applyEdits(edits: Edit[], end: number): Segment[] {
  const kept = keptRuns()
  let at = 0
  // Insertions precede a change at the same offset, and keep their order because the sort is stable.
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.end > end) continue
    if (edit.start < at) refuse('its boxes or images overlap')
    kept.keep(at, edit.start - at)
    for (const bytes of edit.bytes ? [edit.bytes] : zeros(edit.end - edit.start)) kept.put(bytes)
    at = edit.end
  }
  kept.keep(at, end - at)
  return kept.segments
}

function zeros(length: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let left = length; left > 0; left -= ZEROS.length) pieces.push(ZEROS.subarray(0, left))
  return pieces
}
