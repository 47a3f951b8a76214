/** Waits for a service that could not be reached: what failed for that goes on by itself. */
import { UPLOAD_PATH } from '../../../protocol.ts'

/** From the first look to the next, twice as long each time. Unit: milliseconds. */
const FIRST_MS = 5000
const MAX_MS = 5 * 60_000

/** A server that takes no upload, though it answers, is asked ever less often. */
let next = FIRST_MS
/** Unset while it looks. */
let timer: ReturnType<typeof setTimeout> | undefined
let nextAt = 0
let then = () => {}

/** Calls `goOn` once the service answers. One wait serves all pictures. */
export function whenBack(goOn: () => void): void {
  then = goOn
  lookLater()
}

/** When the service is looked for next, by the page's clock, in milliseconds. `null`: right now. */
export function nextLook(): number | null {
  return timer === undefined ? null : nextAt
}

function lookLater(): void {
  if (timer !== undefined) return
  nextAt = performance.now() + next
  timer = setTimeout(look, next)
}

/** An upload arrived: the next failure begins anew. */
export function isBack(): void {
  next = FIRST_MS
}

async function look(): Promise<void> {
  timer = undefined
  next = Math.min(2 * next, MAX_MS)
  const answer = await fetch(UPLOAD_PATH, { method: 'OPTIONS' }).catch(() => null)
  if (answer && answer.status < 500) then()
  else lookLater()
}

addEventListener('online', () => {
  if (timer === undefined) return
  clearTimeout(timer)
  next = FIRST_MS
  void look()
})
