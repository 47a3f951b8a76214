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

/** Waits until `find` gives something, and gives that. */
export async function untilSome<T>(
  what: string,
  find: () => Promise<T | undefined>,
  giveUpAfterMs = PATIENT_MS,
): Promise<T> {
  const deadline = Date.now() + giveUpAfterMs
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await sleep(10)
  }
}
