/**
 * Returns memory to the system when the process is idle after a load. Buffers of bodies lie outside V8's heap, and V8
 * collects garbage when something is allocated: an idle process would keep them for hours (docs/decisions/068).
 */
import { dropKeptBlocks } from '../stores/drafts/blocks.ts'

const LOOK_MS = 10_000

/** Less is not worth a collection, which holds up everybody for some 30 ms. Unit: bytes. */
const WORTH_BYTES = 16 * 1024 * 1024

/** `bin/serve.mjs` asks for it. */
type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/**
 * Collects garbage when the process grew since it was smallest, and `isAtRest`. What is left then is in use, and counts as
 * its size from then on. Does nothing in a process that was started without `--expose-gc`. The timer keeps no process alive.
 */
export function createMemoryMonitor(isAtRest: () => boolean): { stop(): void } {
  const { gc: collect } = globalThis as { gc?: Collect }
  if (collect === undefined) return { stop: () => {} }
  const resident = process.memoryUsage.rss
  let least = resident()

  const timer = setInterval(() => {
    const now = resident()
    if (!isAtRest() || now - least < WORTH_BYTES) {
      least = Math.min(least, now)
      return
    }
    dropKeptBlocks()
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    least = resident()
  }, LOOK_MS).unref()
  return { stop: () => clearInterval(timer) }
}
