/** Polls an unreachable service with backoff, so that failed uploads resume automatically. */
import { UPLOAD_PATH } from '../../../protocol.ts'
import { checkVersion } from '../page/outdated.ts'

/** Poll interval, doubled after each attempt. Unit: milliseconds. */
const MIN_INTERVAL_MS = 5000
const MAX_INTERVAL_MS = 5 * 60_000

/** Not reset by a successful poll, so that the backoff also covers a server that answers but accepts no uploads. */
let interval = MIN_INTERVAL_MS
/** Unset while a poll is running. */
let timer: ReturnType<typeof setTimeout> | undefined
let nextPoll = 0
let resume = () => {}

/** Calls `onReachable` once the service responds. All pictures share one poll. */
export function onceReachable(onReachable: () => void): void {
  resume = onReachable
  schedulePoll()
}

/** Time of the next poll, on the `performance.now()` clock. `null`: polling right now. */
export function nextPollAt(): number | null {
  return timer === undefined ? null : nextPoll
}

function schedulePoll(): void {
  if (timer !== undefined) return
  nextPoll = performance.now() + interval
  timer = setTimeout(poll, interval)
}

/** Call after a successful upload. */
export function resetBackoff(): void {
  interval = MIN_INTERVAL_MS
}

async function poll(): Promise<void> {
  timer = undefined
  interval = Math.min(2 * interval, MAX_INTERVAL_MS)
  const answer = await fetch(UPLOAD_PATH, { method: 'OPTIONS' }).catch(() => null)
  if (answer && answer.status < 500) {
    // A picture may be waiting for code that an update of the service removed.
    void checkVersion()
    resume()
  } else schedulePoll()
}

addEventListener('online', () => {
  if (timer === undefined) return
  clearTimeout(timer)
  interval = MIN_INTERVAL_MS
  void poll()
})
