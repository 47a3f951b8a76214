/** Free space of a disk, in bytes and inodes, read at an interval: an upload that asks for it does not wait for the disk. */
import { statfs } from 'node:fs/promises'

export interface DiskSpace {
  /** Unit: bytes. `null` as long as it is not known. */
  freeBytes(): number | null
  /** Used of what this account may use, of bytes or of inodes, whichever is more: 0 to 1. `null` as long as it is not known. */
  used(): number | null
  stop(): void
}

const ROUND_MS = 500

export async function openDiskMonitor(folder: string): Promise<DiskSpace> {
  let free: number | null = null
  let used: number | null = null

  async function look(): Promise<void> {
    try {
      const { bavail, bfree, blocks, bsize, files, ffree } = await statfs(folder)
      free = bavail * bsize
      // As df counts it: what is kept for root is nobody's.
      const usedBytes = 1 - bavail / Math.max(1, blocks - bfree + bavail)
      // File systems that make inodes as they need them say 0.
      const usedInodes = files > 0 ? 1 - ffree / files : 0
      used = Math.max(usedBytes, usedInodes)
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
