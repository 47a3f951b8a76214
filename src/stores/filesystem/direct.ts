/**
 * Writes past the page cache, where the file system can: docs/decisions/012. The one place that knows how. Node only.
 */
import { constants } from 'node:fs'
import { rm } from 'node:fs/promises'
import { NEW_FILE, writeFlushed } from './write.ts'

/** A file system that writes nothing past the page cache says one of these (open(2), write(2)). */
const NOT_DIRECT = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'])

/** Writes whole pages, from memory that starts at a page, to a new file, and flushes it. */
export type PageWriter = (path: string, pages: Uint8Array) => Promise<void>

/** `onFallback`: the file system refused, once; from then on files are written through the page cache. */
export function createPageWriter(onFallback: (error: Error) => void): PageWriter {
  // Unknown to systems that are not Linux.
  let isDirect = constants.O_DIRECT !== undefined

  return async (path, pages) => {
    if (isDirect) {
      try {
        return await writeFlushed(path, NEW_FILE | constants.O_DIRECT, [pages])
      } catch (error) {
        if (!NOT_DIRECT.has((error as NodeJS.ErrnoException).code ?? '')) throw error
        if (isDirect) onFallback(error as Error)
        isDirect = false
        await rm(path, { force: true })
      }
    }
    await writeFlushed(path, NEW_FILE, [pages])
  }
}
