/** Group commit for folders: one fsync makes the names of all concurrent callers durable. Node only. */
import { type FileHandle, open } from 'node:fs/promises'

export type FolderFlush = ReturnType<typeof createFolderFlush>

/**
 * Runs one flush per folder at a time. A call that arrives during a flush can't know whether that flush covers its name, so
 * it joins the next one, which all later callers share. Folders stay open between flushes.
 */
export function createFolderFlush() {
  const handles = new Map<string, Promise<FileHandle>>()
  /** The flush in progress, or the last one. */
  const latest = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<void>>()

  function handleOf(folder: string): Promise<FileHandle> {
    let handle = handles.get(folder)
    if (handle === undefined) {
      handle = open(folder, 'r')
      handle.catch(() => handles.delete(folder))
      handles.set(folder, handle)
    }
    return handle
  }

  async function flushNow(folder: string): Promise<void> {
    const handle = await handleOf(folder)
    try {
      await handle.sync()
    } catch (error) {
      // Reopened after a failed flush: the kernel may report the error only once per handle.
      handles.delete(folder)
      await handle.close().catch(() => {})
      throw error
    }
  }

  /** Resolves once every name that was in `folder` at the time of the call is durable. */
  function flush(folder: string): Promise<void> {
    let queued = next.get(folder)
    if (queued === undefined) {
      const start = () => {
        next.delete(folder)
        const flushing = flushNow(folder)
        latest.set(folder, flushing)
        return flushing
      }
      queued = Promise.resolve(latest.get(folder)).then(start, start)
      next.set(folder, queued)
    }
    return queued
  }

  async function close(): Promise<void> {
    await Promise.allSettled([...latest.values(), ...next.values()])
    const open = [...handles.values()]
    handles.clear()
    await Promise.allSettled(open.map(async (handle) => (await handle).close()))
  }

  return { flush, close }
}
