/** Reading a box file by random access: a budget, exact reads, and the boxes on its top level. */
import { joined } from '../../bytes.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { type ByteSource, PIECE_BYTES } from '../image.ts'
import { type Box, boxFrom, fits, isZero, MAX_BOXES_PER_PARENT, type Run, refuse } from './fields.ts'

/** What a walk may read beyond twice the file, for headers of small files. Unit: bytes. */
const SPARE_READ_BYTES = 64 * 1024

/** One read takes several headers that lie close together, and little of the image data behind. Unit: bytes. */
const MIN_WINDOW_BYTES = 512

/** A file as a walk over its boxes sees it. */
export interface BoxFile {
  /** For whole boxes that are held in memory. */
  readonly source: ByteSource
  /** For headers, and for what is only read. */
  readonly cursor: Cursor
}

/** A walk may read twice the size of the file: one that makes it read more is hostile. */
export function boxFileOf(whole: ByteSource): BoxFile {
  let left = 2 * whole.size + SPARE_READ_BYTES
  const source: ByteSource = {
    size: whole.size,
    read(offset, length) {
      left -= Math.min(length, whole.size - offset)
      if (left < 0) refuse('its boxes or images overlap')
      return whole.read(offset, length)
    },
  }
  return { source, cursor: cursorOver(source, { minWindow: MIN_WINDOW_BYTES }) }
}

/** All of a run, in memory. */
export async function readRun({ source, cursor }: BoxFile, { start, end }: Run): Promise<Uint8Array> {
  const bytes = end > source.size ? null : await source.read(start, end - start)
  if (bytes?.length !== end - start) refuse('it is cut off')
  if (cursor.work.spendBytes(bytes.length)) await cursor.work.turn()
  return bytes
}

/** The bytes of runs one after the other, up to `most`, in memory. */
export async function readRuns(file: BoxFile, runs: Run[], most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let left = most
  for (const { start, end } of runs) {
    const length = Math.min(left, end - start)
    parts.push(await readRun(file, { start, end: start + length }))
    left -= length
    if (left === 0) break
  }
  return joined(...parts)
}

/** True if a run holds nothing but zero bytes. Stops at the first that is not. */
export async function isZeroRun({ cursor }: BoxFile, { start, end }: Run): Promise<boolean> {
  for (let at = start; at < end; ) {
    const wanted = Math.min(end - at, PIECE_BYTES)
    const window = (cursor.peek(at, 1) ?? (await cursor.load(at, 1))).subarray(0, wanted)
    if (window.length === 0) refuse('it is cut off')
    cursor.work.spendBytes(window.length)
    if (!isZero(window)) return false
    at += window.length
  }
  return true
}

/**
 * The boxes of a run in order, up to its end or to the first thing that is not a box within it. `end` is where the
 * last one ends; `broken` is the header found there, if there is one. Only a box on the top level may leave its size
 * open: `openEnd` is where such a one ends.
 */
export async function boxesIn(
  { cursor }: BoxFile,
  { start, end }: Run,
  openEnd = 0,
): Promise<{ boxes: Box[]; end: number; broken: Box | null }> {
  const boxes: Box[] = []
  let at = start
  while (at < end) {
    if (boxes.length === MAX_BOXES_PER_PARENT) refuse('it holds too many boxes')
    const header = (cursor.peek(at, 16) ?? (await cursor.load(at, 16))).subarray(0, Math.min(16, end - at))
    if (header.length === 0) refuse('it is cut off')
    const box = boxFrom(header, at, openEnd)
    if (!box || !fits(box, end)) return { boxes, end: at, broken: box }
    boxes.push(box)
    at = box.end
  }
  return { boxes, end: at, broken: null }
}
