import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for `condition`. Gives up, loudly, after a time no healthy machine needs. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  giveUpAfterMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + giveUpAfterMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await sleep(10)
  }
}
