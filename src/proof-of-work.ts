/**
 * Proof of work by PBKDF2: what one call verifies takes hundreds to find. The platform's own code computes it, so a browser is
 * hardly slower at it than a program made for it.
 */
import type { Challenge } from './protocol.ts'

export type Puzzle = Pick<Challenge, 'token' | 'iterations' | 'bits' | 'answers'>

/** Whether `counter` is an answer to the `nth` part of a puzzle, the first being 0. */
export type Check = (nth: number, counter: number) => Promise<boolean>

/** See `Challenge` in `protocol.ts`. Throws where there is no Web Crypto, as on pages that came by plain http. */
export async function checkerOf({ token, iterations, bits }: Puzzle): Promise<Check> {
  const ascii = new TextEncoder()
  const password = await crypto.subtle.importKey('raw', ascii.encode(token), 'PBKDF2', false, ['deriveBits'])
  return async (nth, counter) => {
    const salt = ascii.encode(`${nth}.${counter}`)
    const derived = await crypto.subtle.deriveBits(
      { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
      password,
      256,
    )
    return new DataView(derived).getUint32(0) >>> (32 - bits) === 0
  }
}

/** Stops at the first answer that is wrong. */
export async function areAnswers(puzzle: Puzzle, counters: readonly number[]): Promise<boolean> {
  if (counters.length !== puzzle.answers || counters.some((counter) => counter >= 2 ** 32)) return false
  const isAnswer = await checkerOf(puzzle)
  for (const [nth, counter] of counters.entries()) if (!(await isAnswer(nth, counter))) return false
  return true
}
