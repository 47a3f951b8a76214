/** How much room a disk has, looked up now and then: uploads ask for it, and wait for no disk. */
import { statfs } from 'node:fs/promises'

export interface DiskSpace {
  /** Unit: bytes. `null` as long as it is not known. */
  freeBytes(): number | null
  /** Used of what this account may use, 0 to 1. `null` as long as it is not known. */
  used(): number | null
  stop(): void
}

const ROUND_MS = 500

export async function watchDisk(folder: string): Promise<DiskSpace> {
  let free: number | null = null
  let used: number | null = null

  async function look(): Promise<void> {
    try {
      const { bavail, bfree, blocks, bsize } = await statfs(folder)
      free = bavail * bsize
      // As df counts it: what is kept for root is nobody's.
      used = 1 - bavail / Math.max(1, blocks - bfree + bavail)
    } catch {
      // A disk that does not say is left to the store, which finds out.
      free = null
      used = null
    }
  }

  await look()
  const timer = setInterval(look, ROUND_MS).unref()
  return { freeBytes: () => free, used: () => used, stop: () => clearInterval(timer) }
}
