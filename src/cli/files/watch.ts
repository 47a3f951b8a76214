/** A folder whose new pictures are uploaded, e.g. where screenshots go. */
import { stat, watch } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { CommandError } from '../exit.ts'
import { isPicture } from './input.ts'

/** A file that has not grown for so long is finished. */
const QUIET_MS = 400

/**
 * Paths of the pictures that come into a folder from now on, each as soon as it is written, until the signal fires.
 * Rejects with a `CommandError` if the folder can't be watched.
 */
export async function* newPictures(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  const seen = new Map<string, number>()
  try {
    for await (const { filename } of watch(folder, { signal, maxQueue: 10_000 })) {
      if (filename === null || !isPicture(filename)) continue
      const path = join(folder, filename)
      // Several events tell of one file; a file that is written over is new.
      const changed = await settled(path, seen.get(path), signal)
      if (changed === null) continue
      seen.set(path, changed)
      yield path
    }
  } catch (error) {
    if (signal.aborted) return
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('file', `${folder} can't be watched (${code ?? error}).`, { cause: error })
  }
}

/**
 * When it was last changed, once it holds something and no longer grows. `null` if it is gone, no file, or has not
 * changed since `known`.
 */
async function settled(path: string, known: number | undefined, signal: AbortSignal): Promise<number | null> {
  for (let before = -1; ; ) {
    const stats = await stat(path).catch(() => null)
    if (stats === null || !stats.isFile() || stats.mtimeMs === known) return null
    if (stats.size > 0 && stats.size === before) return stats.mtimeMs
    before = stats.size
    await setTimeout(QUIET_MS, undefined, { signal })
  }
}
