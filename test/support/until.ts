import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for `condition`. Gives up, loudly, after a time no healthy machine needs. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  giveUpAfterMs = 20_000,
): Promise<void> {
  await untilSome(what, async () => ((await condition()) ? true : undefined), giveUpAfterMs)
}

/** Waits until `find` gives something, and gives that. */
export async function untilSome<T>(
  what: string,
  find: () => Promise<T | undefined>,
  giveUpAfterMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + giveUpAfterMs
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await sleep(10)
  }
}
