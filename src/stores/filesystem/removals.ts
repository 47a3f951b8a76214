/**
 * Tells all processes on one folder that an image was removed, at the price of one small read for each answer from
 * memory. Node only.
 *
 *     <folder>/removals      8 random bytes, others after each removal
 *
 * Looking for the image's own file each time costs twice as much: the kernel walks its path.
 */
import { closeSync, constants, openSync, readSync, write } from 'node:fs'
import { promisify } from 'node:util'

const writeAt = promisify(write)

const MARK_BYTES = 8

/** An image that somebody removed by hand, with no word to anybody, is missed after this time. */
const LOOK_ANEW_MS = 1000

export interface Removals {
  /**
   * Another number than ever before if any process announced a removal since the last call. What was seen on the disk
   * under one number is there as long as the number stays.
   */
  epoch(): number
  /** When it resolves, every process sees another epoch. To be called after the removal. */
  announce(): Promise<void>
  close(): void
}

/** Announces at once, for a process that died between a removal and its announcement. */
export async function openRemovals(path: string): Promise<Removals> {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const mark = new Uint32Array(MARK_BYTES / 4)
  const bytes = new Uint8Array(mark.buffer)
  let [first, second] = mark
  let epoch = 0
  const timer = setInterval(() => epoch++, LOOK_ANEW_MS).unref()

  async function announce(): Promise<void> {
    // In place: it needs no room on a full disk.
    const { bytesWritten } = await writeAt(
      file,
      crypto.getRandomValues(new Uint8Array(MARK_BYTES)),
      0,
      MARK_BYTES,
      0,
    )
    if (bytesWritten < MARK_BYTES) throw new Error('a removal could not be announced')
  }

  function hasChanged(): boolean {
    if (readSync(file, bytes, 0, MARK_BYTES, 0) < MARK_BYTES) return true
    if (mark[0] === first && mark[1] === second) return false
    ;[first, second] = mark
    return true
  }

  await announce()
  return {
    epoch() {
      try {
        if (hasChanged()) epoch++
      } catch {
        // What can't be read tells nothing: each answer looks for its own file.
        epoch++
      }
      return epoch
    },
    announce,
    close() {
      clearInterval(timer)
      closeSync(file)
    },
  }
}
