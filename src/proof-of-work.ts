/**
 * Proof of work by PBKDF2: what one call verifies takes hundreds to find. The platform's own code computes it, so a browser is
 * hardly slower at it than a program made for it.
 */
import type { Challenge } from './protocol.ts'

export type Puzzle = Pick<Challenge, 'token' | 'iterations' | 'bits' | 'answers'>

/** Whether `counter` is an answer to the `nth` part of a puzzle, the first being 0. */
export type Check = (nth: number, counter: number) => Promise<boolean>

/** Derives 32 bytes from a password and an ASCII salt: PBKDF2 with HMAC-SHA-256 (RFC 8018, 5.2). */
export type Pbkdf2 = (password: string) => Derive | Promise<Derive>
export type Derive = (salt: string, iterations: number) => Uint8Array | Promise<Uint8Array>

/** Throws where there is no Web Crypto, as on pages that came by plain http. */
export const webPbkdf2: Pbkdf2 = async (password) => {
  const ascii = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', ascii.encode(password), 'PBKDF2', false, ['deriveBits'])
  return async (salt, iterations) => {
    const name = { name: 'PBKDF2', hash: 'SHA-256', salt: ascii.encode(salt), iterations }
    return new Uint8Array(await crypto.subtle.deriveBits(name, key, 256))
  }
}

/** See `Challenge` in `protocol.ts`. Throws what `pbkdf2` throws. */
export async function checkerOf({ token, iterations, bits }: Puzzle, pbkdf2 = webPbkdf2): Promise<Check> {
  const derive = await pbkdf2(token)
  return async (nth, counter) => {
    const { buffer, byteOffset } = await derive(`${nth}.${counter}`, iterations)
    return new DataView(buffer, byteOffset).getUint32(0) >>> (32 - bits) === 0
  }
}

/**
 * Verifies a solution with at most two tries: the first answer, and another one picked at random. With `k` of `n` right answers
 * the chance to pass is (k - 1) / (n - 1), once for each challenge, so solving all of it is cheapest. `claim` uses the challenge
 * up, after the first answer was right; `false` if it was used before.
 */
export async function isSolved(
  puzzle: Puzzle,
  counters: readonly number[],
  claim: () => Promise<boolean>,
  pbkdf2?: Pbkdf2,
): Promise<boolean> {
  if (counters.length !== puzzle.answers || counters.some((counter) => counter >= 2 ** 32)) return false
  const isAnswer = await checkerOf(puzzle, pbkdf2)
  if (!(await isAnswer(0, counters[0]!)) || !(await claim())) return false
  const [chance] = crypto.getRandomValues(new Uint32Array(1))
  const other = 1 + (chance! % (puzzle.answers - 1))
  return isAnswer(other, counters[other]!)
}
