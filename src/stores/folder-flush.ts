/** Makes names in folders durable, once for all who wait together. Node only. */
import { open } from 'node:fs/promises'

export interface FolderFlush {
  /** Resolves when every name that `folder` held at the call is on disk. */
  flush(folder: string): Promise<void>
}

/**
 * One flush of a folder at a time. A call that comes while one runs can't know whether that one saw its name, so it
 * waits for the next, together with all others that came meanwhile.
 */
export function createFolderFlush(): FolderFlush {
  const running = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<void>>()

  function start(folder: string): Promise<void> {
    const flushing = flushNow(folder).finally(() => {
      if (running.get(folder) === flushing) running.delete(folder)
    })
    running.set(folder, flushing)
    return flushing
  }

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

  return { flush }
}

async function flushNow(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
