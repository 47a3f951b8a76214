/**
 * Detects that no file descriptor is left, by opening a file once a second: libuv then closes new connections unanswered
 * and reports nothing.
 */
import { close, open } from 'node:fs'
import type { Log } from '../http/log.ts'

const LOOK_MS = 1000
const QUIET_MS = 60_000

/** `onExhausted` is called for each check that found none. Logged at most once a minute. */
export function createDescriptorMonitor(log: Log, onExhausted: () => void): { stop(): void } {
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
