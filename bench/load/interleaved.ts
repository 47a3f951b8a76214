/** Measures contestants alternately, in one run on one machine. */

export interface Contestant {
  name: string
  /** Runs before each turn, unmeasured. */
  prepare?: () => Promise<void>
  measure: () => Promise<number>
}

/**
 * The values of each contestant, one per round. Every other round runs in reverse order, and the order rotates every second
 * round, so that no contestant always has the same neighbours.
 */
export async function interleaved(contestants: Contestant[], rounds: number): Promise<Map<string, number[]>> {
  const values = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const first = (round >> 1) % contestants.length
    const rotated = [...contestants.slice(first), ...contestants.slice(0, first)]
    for (const { name, prepare, measure } of round % 2 ? rotated.toReversed() : rotated) {
      await prepare?.()
      values.get(name)!.push(await measure())
    }
    const last = contestants.map(({ name }) => `${name} ${Math.round(values.get(name)!.at(-1)!)}`)
    console.error(`    round ${round + 1} of ${rounds}: ${last.join(', ')}`)
  }
  return values
}
