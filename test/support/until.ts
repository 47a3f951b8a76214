import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than anything takes on a machine that is busy with everything else: what hangs, hangs longer. */
export const PATIENT_MS = 60_000

/** Waits for `condition`. Gives up, loudly, after a time no healthy machine needs. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  giveUpAfterMs = PATIENT_MS,
): Promise<void> {
  await untilSome(what, async () => ((await condition()) ? true : undefined), giveUpAfterMs)
}

/** The longest pause between two tries. Unit: milliseconds. */
const MAX_PAUSE_MS = 100

/** Waits until `find` gives something, and gives that. What takes long is asked for less often: asking costs as well. */
export async function untilSome<T>(
  what: string,
  find: () => Promise<T | undefined>,
  giveUpAfterMs = PATIENT_MS,
): Promise<T> {
  const startedAt = Date.now()
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    const waitedMs = Date.now() - startedAt
    if (waitedMs > giveUpAfterMs) throw new Error(`waited in vain: ${what}`)
    await sleep(Math.max(10, Math.min(MAX_PAUSE_MS, waitedMs / 20)))
  }
}
