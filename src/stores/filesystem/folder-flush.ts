/** Makes names in folders durable, once for all who wait together. Node only. */
import { type FileHandle, open } from 'node:fs/promises'

export type FolderFlush = ReturnType<typeof createFolderFlush>

/**
 * One flush of a folder at a time. A call that comes while one runs can't know whether that one saw its name, so it
 * waits for the next, together with all others that came meanwhile. Folders stay open between flushes.
 */
export function createFolderFlush() {
  const handles = new Map<string, Promise<FileHandle>>()
  const running = new Map<string, Promise<void>>()
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
      // A folder whose flush failed is opened anew: the old handle may have lost the error.
      handles.delete(folder)
      await handle.close().catch(() => {})
      throw error
    }
  }

  function start(folder: string): Promise<void> {
    const flushing = flushNow(folder).finally(() => {
      if (running.get(folder) === flushing) running.delete(folder)
    })
    running.set(folder, flushing)
    return flushing
  }

  /** Resolves when every name that `folder` held at the call is on disk. */
  function flush(folder: string): Promise<void> {
    const current = running.get(folder)
    if (current === undefined) return start(folder)
    let queued = next.get(folder)
    if (queued === undefined) {
      const after = () => {
        next.delete(folder)
        return start(folder)
      }
      queued = current.then(after, after)
      next.set(folder, queued)
    }
    return queued
  }

  async function close(): Promise<void> {
    await Promise.allSettled(running.values())
    const open = [...handles.values()]
    handles.clear()
    await Promise.allSettled(open.map(async (handle) => (await handle).close()))
  }

  return { flush, close }
}
