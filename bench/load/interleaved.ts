/** Contestants measured one after the other, again and again, in one run on one machine. */

export interface Contestant {
  name: string
  /** Before each turn, outside the measure. */
  prepare?: () => Promise<void>
  measure: () => Promise<number>
}

/**
 * The values of each contestant, in the order of the rounds. Every other round goes backwards, and every second one begins
 * with the next: nobody is always in the middle, or twice in a row more often than others.
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
