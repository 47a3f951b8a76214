/**
 * Proof of work with PBKDF2: one call verifies an answer that takes thousands of calls to find. Platforms implement PBKDF2
 * natively, so a browser is hardly slower than a purpose-built program.
 */
import type { Challenge } from './protocol.ts'

export type Puzzle = Pick<Challenge, 'token' | 'iterations' | 'bits' | 'answers'>

/** Whether `counter` solves the part of a puzzle at `index` (0-based). */
export type Check = (index: number, counter: number) => Promise<boolean>

/** Derives 32 bytes from a password and an ASCII salt: PBKDF2 with HMAC-SHA-256 (RFC 8018, 5.2). */
export type Pbkdf2 = (password: string) => Derive | Promise<Derive>
export type Derive = (salt: string, iterations: number) => Uint8Array | Promise<Uint8Array>

/** Throws where Web Crypto is missing, as on pages served over plain http. */
const webPbkdf2: Pbkdf2 = async (password) => {
  const ascii = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', ascii.encode(password), 'PBKDF2', false, ['deriveBits'])
  return async (salt, iterations) => {
    const name = { name: 'PBKDF2', hash: 'SHA-256', salt: ascii.encode(salt), iterations }
    return new Uint8Array(await crypto.subtle.deriveBits(name, key, 256))
  }
}

/** Creates the checker for a puzzle; see `Challenge` in `protocol.ts`. Throws whatever `pbkdf2` throws. */
export async function checkerOf({ token, iterations, bits }: Puzzle, pbkdf2 = webPbkdf2): Promise<Check> {
  const derive = await pbkdf2(token)
  return async (index, counter) => {
    const { buffer, byteOffset } = await derive(`${index}.${counter}`, iterations)
    return new DataView(buffer, byteOffset).getUint32(0) >>> (32 - bits) === 0
  }
}

/**
 * Verifies a solution with at most two checks: the first answer and a randomly chosen other one. With `k` of `n` correct
 * answers the chance of passing is (k - 1) / (n - 1), and each challenge allows a single attempt, so solving all of it is
 * cheapest. `claim` consumes the challenge, after the first answer proved correct; it returns `false` if the challenge was
 * used before.
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
  const [random] = crypto.getRandomValues(new Uint32Array(1))
  const other = 1 + (random! % (puzzle.answers - 1))
  return isAnswer(other, counters[other]!)
}
