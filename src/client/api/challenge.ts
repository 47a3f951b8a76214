/** Proof of work that a service wants before an upload: fetched with the first. Only a service that asked once is asked ahead. */
import { jsonObject } from '../../json.ts'
import { checkerOf, type Puzzle } from '../../proof-of-work.ts'
import { CHALLENGE_PATH, UPLOAD_PATH } from '../../protocol.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './transport.ts'

/** Iterations that are done for a service at most: some minutes. */
const MAX_WORK = 2 ** 30

/** Upload addresses of services that want proof of work. */
const demanding = new Set<string>()

/** For an upload that was refused. `null`: it was refused for something else, wants too much, or can't be solved here. */
export async function solvedFor(
  { text }: Answer,
  { address }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const problem = jsonObject(text) as { error?: unknown; challenge?: unknown } | null
  if (problem?.error !== 'challenge-required') return null
  demanding.add(address(UPLOAD_PATH))
  // Browsers have no Web Crypto on pages that came by plain http.
  if (globalThis.crypto?.subtle === undefined) return null
  const puzzle = puzzleIn(problem.challenge)
  return puzzle && solve(puzzle, { signal })
}

/** For the next upload, so that its body is not sent for nothing. */
export async function solvedAhead(
  { address, transport }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (!demanding.has(address(UPLOAD_PATH))) return null
  const answer = await transport({ method: 'GET', url: address(CHALLENGE_PATH), signal })
  if (answer.status !== 200) demanding.delete(address(UPLOAD_PATH))
  const puzzle = answer.status === 200 ? puzzleIn(jsonObject(answer.text)) : null
  return puzzle && solve(puzzle, { signal })
}

/** From a service that need not be an honest one. */
export function puzzleIn(value: unknown): Puzzle | null {
  if (typeof value !== 'object' || value === null) return null
  const { token, algorithm, iterations, bits, answers } = value as Record<string, unknown>
  if (typeof token !== 'string' || !/^[\w.-]{1,200}$/.test(token)) return null
  if (algorithm !== 'PBKDF2-SHA-256') return null
  if (!isCount(iterations) || !isCount(bits) || !isCount(answers)) return null
  if (bits > 30 || answers > 16 || answers * iterations * 2 ** bits > MAX_WORK) return null
  return { token, iterations, bits, answers }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

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
