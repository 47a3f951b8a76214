/** Solves challenges. Fetched when the first one comes. */
import { checkerOf, type Puzzle } from '../../proof-of-work.ts'

/** Tried at once: they run on threads of the platform, as many as there are. */
const AT_ONCE = 32

/**
 * The solution, as `SOLUTION_HEADER` takes it. `onAnswer`: so many answers are found. Rejects with the signal's reason.
 */
export async function solve(
  puzzle: Puzzle,
  options: { signal?: AbortSignal | undefined; onAnswer?: (found: number) => void } = {},
): Promise<string> {
  const isAnswer = await checkerOf(puzzle)
  const found: number[] = []
  while (found.length < puzzle.answers) {
    for (let from = 0, at = -1; at < 0; from += AT_ONCE) {
      options.signal?.throwIfAborted()
      const tries = Array.from({ length: AT_ONCE }, (_, nth) => isAnswer(found.length, from + nth))
      at = (await Promise.all(tries)).indexOf(true)
      if (at >= 0) found.push(from + at)
    }
    options.onAnswer?.(found.length)
  }
  return `${puzzle.token}:${found.join(',')}`
}
