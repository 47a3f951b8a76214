/** Watches a folder for new images, e.g. screenshots. */
import { stat, watch } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { CommandError } from '../exit.ts'
import { isImageFile } from './input.ts'

/** A file whose size hasn't changed for this long is complete. */
const QUIET_MS = 400

/**
 * Yields the path of each new image in a folder, once it is completely written, until the signal aborts. Throws a
 * `CommandError` if the folder can't be watched.
 */
export async function* newImages(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  const lastChanges = new Map<string, number>()
  try {
    // The trailing slash makes watching a file fail with ENOTDIR.
    for await (const { filename } of watch(`${folder}/`, { signal, maxQueue: 10_000 })) {
      if (filename === null || !isImageFile(filename)) continue
      const path = join(folder, filename)
      // One file causes several events. An overwritten file counts as new.
      const changedAt = await waitUntilWritten(path, lastChanges.get(path), signal)
      if (changedAt === null) continue
      lastChanges.set(path, changedAt)
      yield path
    }
  } catch (error) {
    if (signal.aborted) return
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('file', `${folder} can't be watched (${code ?? error}).`, { cause: error })
  }
}

/**
 * Waits until the file no longer grows, and returns its modification time. `null` if it is gone, not a file, unchanged since
 * `lastChange`, or still empty: writing to it causes another event.
 */
async function waitUntilWritten(
  path: string,
  lastChange: number | undefined,
  signal: AbortSignal,
): Promise<number | null> {
  for (let lastSize = -1; ; ) {
    const stats = await stat(path).catch(() => null)
    if (stats === null || !stats.isFile() || stats.mtimeMs === lastChange) return null
    if (stats.size === lastSize) return stats.size > 0 ? stats.mtimeMs : null
    lastSize = stats.size
    await setTimeout(QUIET_MS, undefined, { signal })
  }
}
