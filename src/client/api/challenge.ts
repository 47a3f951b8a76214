/**
 * Proof of work that a service requires before an upload. This module is loaded with the first challenge; only services that
 * have sent one are asked for another ahead of an upload.
 */
import { parseJsonObject } from '../../json.ts'
import { checkerOf, type Puzzle } from '../../proof-of-work.ts'
import { CHALLENGE_PATH, UPLOAD_PATH } from '../../protocol.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './transport.ts'

/** Upper bound on hash iterations spent on one challenge: a few minutes. */
const MAX_WORK = 2 ** 30

/** Upload addresses of services that have required proof of work. */
const challengingServices = new Set<string>()

/**
 * Solves the challenge in a refusal. `null` when the upload was refused for another reason, or the challenge is too expensive
 * or can't be solved here.
 */
export async function solveRefusal(
  { text }: Answer,
  { address }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const problem = parseJsonObject(text) as { error?: unknown; challenge?: unknown } | null
  if (problem?.error !== 'challenge-required') return null
  challengingServices.add(address(UPLOAD_PATH))
  // Browsers have no Web Crypto on plain-http pages.
  if (globalThis.crypto?.subtle === undefined) return null
  const puzzle = parseChallenge(problem.challenge)
  return puzzle && solve(puzzle, { signal })
}

/** Fetches and solves a challenge ahead of an upload, so that its body is not sent in vain. */
export async function solveAhead(
  { address, transport }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (!challengingServices.has(address(UPLOAD_PATH))) return null
  const answer = await transport({ method: 'GET', url: address(CHALLENGE_PATH), signal })
  if (answer.status !== 200) challengingServices.delete(address(UPLOAD_PATH))
  const puzzle = answer.status === 200 ? parseChallenge(parseJsonObject(answer.text)) : null
  return puzzle && solve(puzzle, { signal })
}

/** Validates a challenge. The service is untrusted. */
export function parseChallenge(value: unknown): Puzzle | null {
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

/** Candidates tried concurrently. The platform spreads them over its threads. */
const BATCH_SIZE = 32

/**
 * Returns the solution in the format of `SOLUTION_HEADER`. `onAnswer` reports the number of answers found so far. Rejects
 * with the signal's reason.
 */
export async function solve(
  puzzle: Puzzle,
  options: { signal?: AbortSignal | undefined; onAnswer?: (found: number) => void } = {},
): Promise<string> {
  const isAnswer = await checkerOf(puzzle)
  const found: number[] = []
  while (found.length < puzzle.answers) {
    for (let from = 0, at = -1; at < 0; from += BATCH_SIZE) {
      options.signal?.throwIfAborted()
      const tries = Array.from({ length: BATCH_SIZE }, (_, i) => isAnswer(found.length, from + i))
      at = (await Promise.all(tries)).indexOf(true)
      if (at >= 0) found.push(from + at)
    }
    options.onAnswer?.(found.length)
  }
  return `${puzzle.token}:${found.join(',')}`
}
