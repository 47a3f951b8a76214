/** Changes to a file as a list of edits, and the segments that they leave of it. */

import { keptRuns, sameBytes } from '../bytes/kept-runs.ts'
import { ascii } from '../bytes/text.ts'
import type { Segment } from '../image.ts'
import { type Box, type Fields, isZero, type Run, refuse } from './fields.ts'
import { type BoxFile, isZeroRun } from './file.ts'

/** Puts `bytes` in place of a run; without `bytes`, as many zeros. */
export interface Edit extends Run {
  readonly bytes?: Uint8Array
}

/** Zeros are pieces of this one, however many are asked for: a file can't make the process hold them. */
const ZEROS = new Uint8Array(64 * 1024)

const FREE = ascii('free')
const NOTHING = new Uint8Array(0)

/** Boxes whose contents no reader looks at (14496-12, 8.1.2); `wide` is QuickTime's. */
const FREE_TYPES: ReadonlySet<string> = new Set(['free', 'skip', 'wide'])

export function isFree(box: Box): boolean {
  return FREE_TYPES.has(box.type)
}

/** True for a box that readers skip, with nothing in it. */
export async function isEmpty(file: BoxFile, box: Box): Promise<boolean> {
  return isFree(box) && (await isZeroRun(file, { start: box.body, end: box.end }))
}

/** Zeros from `start` to `end`, unless there is nothing else already. */
export function zeroed(fields: Fields, start: number, end: number): Edit[] {
  return end <= start || isZero(fields.within(start, end).rest()) ? [] : [{ start, end }]
}

/** `bytes` at `start`, unless they are there already. */
export function written(fields: Fields, start: number, bytes: Uint8Array): Edit[] {
  const end = start + bytes.length
  return sameBytes(bytes, fields.within(start, end).rest()) ? [] : [{ start, end, bytes }]
}

/** Takes a run out of the file. */
export function cut({ start, end }: Run): Edit {
  return { start, end, bytes: NOTHING }
}

/** Overwrites a field. `width`: at most 8 bytes. */
export function overwrite(at: number, width: number, value: number): Edit {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return { start: at, end: at + width, bytes: bytes.subarray(8 - width) }
}

/** Writes a new size into a box's header. */
export function resize(box: Box, size: number): Edit {
  return box.large ? overwrite(box.start + 8, 8, size) : overwrite(box.start, 4, size)
}

/** A sound file needs some dozens. They are refused here, before they are put in order. */
const MAX_EDITS = 8192

/** Refuses a file that would be cut into too many pieces. */
export function addInto(edits: Edit[], edit: Edit): void {
  if (edits.length >= MAX_EDITS) refuse('it has too many pieces that do not belong to the picture')
  edits.push(edit)
}

/** Overwrites a run with zeros. */
export function zeroInto(edits: Edit[], { start, end }: Run): void {
  if (end > start) addInto(edits, { start, end })
}

/** Makes a box one that readers skip, of the same size, with nothing in it. */
export function blankInto(edits: Edit[], box: Box): void {
  if (!isFree(box)) addInto(edits, { start: box.start + 4, end: box.start + 8, bytes: FREE })
  zeroInto(edits, { start: box.body, end: box.end })
}

/** Puts an empty box of `length` bytes, at least 8, before the byte at `at`. */
export function pad(at: number, length: number): Edit[] {
  return [freeHeader(length), ...zeros(length - 8)].map((bytes) => ({ start: at, end: at, bytes }))
}

/** `length`: of the whole box. Unit: bytes. */
function freeHeader(length: number): Uint8Array {
  const header = new Uint8Array(8)
  new DataView(header.buffer).setUint32(0, length)
  header.set(FREE, 4)
  return header
}

/** What the edits leave of the first `end` bytes of the source. No two edits may overlap. */
export function edited(edits: Edit[], end: number): Segment[] {
  const kept = keptRuns()
  let at = 0
  // Insertions come before what changes at the same place, and stay in their order: the sort is stable.
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
