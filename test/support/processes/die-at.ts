/**
 * Loaded into a command with `--import`: kills its process with -9 just before the call to the disk that DIE_AT counts,
 * the first being 0. Renames, flushes, files opened to be written, files removed.
 */
import { meetDiskCalls } from './disk-calls.ts'

let left = Number(process.env.DIE_AT)

await meetDiskCalls(
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
