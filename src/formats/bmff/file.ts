/** Random access to a box file: a read budget, exact reads, and box iteration. */
import { concatBytes } from '../../bytes.ts'
import { type Cursor, cursorOver } from '../bytes/cursor.ts'
import { type ByteSource, CHUNK_BYTES } from '../image.ts'
import { type Box, boxFrom, fits, isZero, MAX_BOXES_PER_PARENT, type Run, refuse } from './fields.ts'

/** Read budget in addition to twice the file size, for headers of small files. Unit: bytes. */
const SPARE_READ_BYTES = 64 * 1024

/** One read covers several adjacent headers, but little of the image data after them. Unit: bytes. */
const MIN_WINDOW_BYTES = 512

/** The two ways in which a walk over boxes reads its file. */
export interface BoxFile {
  /** For boxes that are loaded as a whole. */
  readonly source: ByteSource
  /** For headers, and for data that is only scanned. */
  readonly cursor: Cursor
}

/** Limits reads to about twice the file size: only a hostile file makes a walk read more. */
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

/** Loads a byte range. Throws when it is truncated. */
export async function readRun({ source, cursor }: BoxFile, { start, end }: Run): Promise<Uint8Array> {
  const bytes = end > source.size ? null : await source.read(start, end - start)
  if (bytes?.length !== end - start) refuse('it is cut off')
  if (cursor.work.spendBytes(bytes.length)) await cursor.work.yield()
  return bytes
}

/** Loads and concatenates byte ranges, up to `maxLength` bytes. */
export async function readRuns(file: BoxFile, runs: Run[], maxLength: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let left = maxLength
  for (const { start, end } of runs) {
    const length = Math.min(left, end - start)
    parts.push(await readRun(file, { start, end: start + length }))
    left -= length
    if (left === 0) break
  }
  return concatBytes(...parts)
}

/** True if a byte range contains only zeros. Stops at the first window that does not. */
export async function isZeroRun({ cursor }: BoxFile, { start, end }: Run): Promise<boolean> {
  for (let at = start; at < end; ) {
    const wanted = Math.min(end - at, CHUNK_BYTES)
    const window = (cursor.peek(at, 1) ?? (await cursor.load(at, 1))).subarray(0, wanted)
    if (window.length === 0) refuse('it is cut off')
    cursor.work.spendBytes(window.length)
    if (!isZero(window)) return false
    at += window.length
  }
  return true
}

/**
 * The boxes of a byte range, up to its end or the first invalid box. `end`: where the last valid box ends. `broken`: the
 * invalid box header found there, if any. `openEnd`: end of a box with an open size, which is allowed only on the top level.
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
