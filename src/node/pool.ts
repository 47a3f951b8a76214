/** The threads that read, write and flush files for the event loop. */
import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** By how much the pool steps back (`nice`): the loop keeps nine tenths of a processor that both want. */
const POOL_NICE = 10

/**
 * Lets the event loop go first. The kernel runs a thread that was just woken before the one that woke it: each file
 * that is handed to the pool would stop the loop, and all requests with it, for as long as the copying of it takes.
 * To be called when the pool is at work. Linux only, where threads have priorities of their own (setpriority(2)).
 */
export function stepBehindEventLoop(): void {
  if (process.platform !== 'linux') return
  try {
    for (const thread of readdirSync('/proc/self/task')) {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8')
      if (name.startsWith('libuv-worker')) setPriority(Number(thread), POOL_NICE)
    }
  } catch {
    // Without it everything works, a little slower.
  }
}
