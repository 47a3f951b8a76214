/**
 * Preload for a command (`--import`): kills its process with SIGKILL just before disk call number DIE_AT, counted from 0. Only
 * renames, flushes, writes, opens for writing and removals count.
 */
import { interceptDiskCalls } from './disk-calls.ts'

let left = Number(process.env.DIE_AT)

await interceptDiskCalls(
  {
    handles: ['sync', 'appendFile', 'writeFile'],
    promises: ['rename', 'open', 'unlink', 'rm', 'link'],
    callbacks: { open: 'open', fsync: 'fsync', fdatasync: 'fdatasync' },
  },
  (call, [, flags]) => {
    const isRead = call === 'open' && (flags === 'r' || flags === undefined)
    if (!isRead && left-- === 0) process.kill(process.pid, 'SIGKILL')
  },
)
