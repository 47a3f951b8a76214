import { setTimeout as sleep } from 'node:timers/promises'

/** Timeout that nothing reaches even on a busy machine, unless it hangs. */
export const PATIENT_MS = 60_000

/** Polls until `condition` is true. Throws after a timeout that no healthy machine reaches. */
export async function until(
  description: string,
  condition: () => boolean | Promise<boolean>,
  giveUpAfterMs = PATIENT_MS,
): Promise<void> {
  await untilSome(description, async () => ((await condition()) ? true : undefined), giveUpAfterMs)
}

/** Maximum delay between polls. Unit: milliseconds. */
const MAX_PAUSE_MS = 100

/** Polls until `find` returns a value, and returns that value. Polls less often over time, since polling costs CPU time too. */
export async function untilSome<T>(
  description: string,
  find: () => Promise<T | undefined>,
  giveUpAfterMs = PATIENT_MS,
): Promise<T> {
  const startedAt = Date.now()
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    const waitedMs = Date.now() - startedAt
    if (waitedMs > giveUpAfterMs) throw new Error(`timed out waiting for: ${description}`)
    await sleep(Math.max(10, Math.min(MAX_PAUSE_MS, waitedMs / 20)))
  }
}
