/**
 * Notices when no file descriptor is left. libuv then closes new connections unanswered and tells nobody, so it is looked for:
 * one file is opened a second, as accepting a connection and reading an image would.
 */
import { close, open } from 'node:fs'
import type { Log } from '../http/log.ts'

const LOOK_MS = 1000
const QUIET_MS = 60_000

/** `onExhausted`: hears of each look that found none. Logged at most once a minute. The timer keeps no process alive. */
export function watchDescriptors(log: Log, onExhausted: () => void): { stop(): void } {
  let loggedAt = -Infinity

  function look(): void {
    open('/dev/null', (err, descriptor) => {
      if (err === null) return close(descriptor)
      if (err.code !== 'EMFILE' && err.code !== 'ENFILE') return
      onExhausted()
      if (performance.now() - loggedAt < QUIET_MS) return
      loggedAt = performance.now()
      log.error({ err }, 'no file descriptor is left: connections are closed and files not opened')
    })
  }

  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
