/** Reading a box file by random access: a budget, exact reads, and the boxes on its top level. */

import { type ByteSource, WINDOW_BYTES } from '../image.ts'
import { type Box, boxFrom, fits, isZero, MAX_BOXES_PER_PARENT, type Run, refuse } from './fields.ts'

/** What a walk may read beyond twice the file, for headers of small files. Unit: bytes. */
const SPARE_READ_BYTES = 64 * 1024

/** The same source, until a walk has read more than twice its size: a file that asks for more is hostile. */
export function metered(source: ByteSource): ByteSource {
  let left = 2 * source.size + SPARE_READ_BYTES
  return {
    size: source.size,
    read(offset, length) {
      left -= Math.min(length, source.size - offset)
      if (left < 0) refuse('its parts overlap too often')
      return source.read(offset, length)
    },
  }
}

/** All of a run, in memory. */
export async function readRun(source: ByteSource, { start, end }: Run): Promise<Uint8Array> {
  const bytes = end > source.size ? null : await source.read(start, end - start)
  if (bytes?.length !== end - start) refuse('it is cut off')
  return bytes
}

/** True if a run holds nothing but zero bytes. Stops at the first that is not. */
export async function isZeroRun(source: ByteSource, { start, end }: Run): Promise<boolean> {
  for (let at = start; at < end; ) {
    const window = { start: at, end: Math.min(end, at + WINDOW_BYTES) }
    if (!isZero(await readRun(source, window))) return false
    at = window.end
  }
  return true
}

/**
 * The boxes of a run in order, up to its end or to the first thing that is not a box within it. `end` is where the
 * last one ends; `broken` is the header found there, if there is one. Only a box on the top level may leave its size
 * open: `openEnd` is where such a one ends.
 */
export async function boxesIn(
  source: ByteSource,
  { start, end }: Run,
  openEnd = 0,
): Promise<{ boxes: Box[]; end: number; broken: Box | null }> {
  const boxes: Box[] = []
  let at = start
  while (at < end) {
    if (boxes.length === MAX_BOXES_PER_PARENT) refuse('it holds too many boxes')
    const box = boxFrom(await readRun(source, { start: at, end: Math.min(at + 16, end) }), at, openEnd)
    if (!box || !fits(box, end)) return { boxes, end: at, broken: box }
    boxes.push(box)
    at = box.end
  }
  return { boxes, end: at, broken: null }
}
