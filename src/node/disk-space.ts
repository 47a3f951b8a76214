/** How much room a disk has, looked up now and then: uploads ask for it, and wait for no disk. */
import { statfs } from 'node:fs/promises'

export interface DiskSpace {
  /** Unit: bytes. `null` as long as it is not known. */
  freeBytes(): number | null
  stop(): void
}

const ROUND_MS = 500

export async function watchDisk(folder: string): Promise<DiskSpace> {
  let free: number | null = null

  async function look(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(folder)
      free = bavail * bsize
    } catch {
      // A disk that does not say is left to the store, which finds out.
      free = null
    }
  }

  await look()
  const timer = setInterval(look, ROUND_MS).unref()
  return { freeBytes: () => free, stop: () => clearInterval(timer) }
}
