/** Proof-of-work challenges for uploads, and passes that replace them (docs/decisions/081). */
import { createBackgroundTasks } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import { isSolved } from '../../proof-of-work.ts'
import {
  type Challenge,
  PASS_PAGE_PATH,
  PASS_UPLOADS,
  type PassAnswer,
  UNCHALLENGED_UPLOADS,
} from '../../protocol.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { timeOf } from '../../utc-day.ts'
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import type { Settings } from '../settings.ts'
import { type ChallengeToken, createTokens, type Purpose } from './tokens.ts'
import type { UploadRate } from './upload-rate.ts'

/** Credentials of an upload, as sent by the client. */
export interface Credentials {
  /** Value of `SOLUTION_HEADER`. */
  solution?: string | undefined
  pass?: string | undefined
}

export interface Challenges {
  /** Whether challenges are enabled: always on, or on at a high upload rate. */
  isOffered(): boolean
  /**
   * A challenge for the next upload of an address with `used` uploads today. `null` if none is required. Throws `Refusal`.
   */
  next(used: number): Promise<Challenge | null>
  /** Creates a challenge for a pass. Throws `Refusal`. */
  forPass(): Promise<Challenge>
  /** Exchanges a solution for a pass. Throws `Refusal('challenge-required')`. */
  issuePass(solution: string | undefined): Promise<PassAnswer>
  /**
   * Call it before the upload is reserved. Throws `Refusal('challenge-required')` if credentials are required and missing; it
   * doesn't verify them. `used`: today's uploads of the address, without this one.
   */
  assertPresent(credentials: Credentials, used: () => Promise<number>): Promise<void>
  /**
   * Call it when the upload is reserved. Verifies and consumes the credentials if they are required. `used`: today's uploads
   * of the address, with this one. Throws `Refusal('challenge-required')`.
   */
  spend(credentials: Credentials, used: number): Promise<Spent>
  /** Resolves when all background work has ended. */
  stop(): Promise<void>
}

export interface Spent {
  /** Call it if nothing was stored: credits the upload back to the pass. A solution stays used. */
  release(): void
}

/** Difficulty: about 5 × 2,048 × 1,000 iterations for an upload, 8 × 16,384 × 1,000 for a pass. */
export const WORK = {
  upload: { iterations: 1000, bits: 11, answers: 5 },
  pass: { iterations: 1000, bits: 14, answers: 8 },
} as const satisfies Record<Purpose, Omit<Challenge, 'token' | 'algorithm' | 'expires'>>

const SOLUTION = /^([\w.-]{1,200}):(\d{1,10}(?:,\d{1,10}){0,15})$/

const NOTHING_SPENT: Spent = { release() {} }

const MISSING_CREDENTIALS = `This address has used its ${UNCHALLENGED_UPLOADS} unchallenged uploads for today. Solve the challenge, or send a pass from ${PASS_PAGE_PATH}.`
const BAD_PASS = `This pass is used up, has expired, or was issued by another server. Get a new one at ${PASS_PAGE_PATH}.`
const BAD_SOLUTION = 'This solution is wrong, has been used before, or has expired.'

export function createChallenges(parts: {
  ledger: Ledger
  settings: Pick<Settings, 'current'>
  rate: UploadRate
  hashes: Hashes
  now: () => number
  work?: Record<Purpose, Omit<Challenge, 'token' | 'algorithm' | 'expires'>>
}): Challenges {
  const { ledger, settings, rate, hashes, work = WORK } = parts
  const tokens = createTokens(parts)
  const releasing = createBackgroundTasks()
  const mode = () => settings.current().challenge

  async function isOn(): Promise<boolean> {
    return mode() === 'on' || (mode() === 'auto' && (await rate.isExceeded()))
  }

  async function newChallenge(purpose: Purpose): Promise<Challenge> {
    const { token, expiresAt, iterations, bits, answers } = await tokens.challenge(purpose, work[purpose])
    return { token, algorithm: 'PBKDF2-SHA-256', iterations, bits, answers, expires: timeOf(expiresAt) }
  }

  async function refusal(purpose: Purpose, detail: string): Promise<Refusal> {
    return new Refusal('challenge-required', detail, { challenge: await newChallenge(purpose) })
  }

  /** Parses a solution; checks the token's signature, expiry and purpose, but not the answers. */
  async function parseSolution(
    purpose: Purpose,
    solution: string | undefined,
  ): Promise<{ token: ChallengeToken; counters: number[] } | null> {
    const [, text, counters] = SOLUTION.exec(solution ?? '') ?? []
    if (text === undefined) return null
    const token = await tokens.readChallenge(text)
    return token?.purpose === purpose ? { token, counters: counters!.split(',').map(Number) } : null
  }

  /**
   * `false` if the solution is invalid. The first answer is checked before the ledger is called, so a solution without any
   * work costs a single check. If that answer is correct, it consumes the challenge, so wrong answers elsewhere cannot be
   * retried. A replayed solution costs a check too: looking up replays first would add a ledger call to every solution.
   */
  async function spendSolution(purpose: Purpose, solution: string | undefined): Promise<boolean> {
    const parsed = await parseSolution(purpose, solution)
    if (parsed === null) return false
    const { token, counters } = parsed
    const claim = () => ledger.takeCapacity(`challenge ${token.id}`, token.day, 1, 1)
    return isSolved(token, counters, claim, hashes.pbkdf2)
  }

  /** `null` if the pass is invalid or used up. */
  async function spendPass(text: string): Promise<Spent | null> {
    const pass = await tokens.readPass(text)
    if (pass === null) return null
    const name = `pass ${pass.id}`
    if (!(await ledger.takeCapacity(name, pass.day, 1, PASS_UPLOADS))) return null
    return {
      release() {
        releasing.add(ledger.releaseCapacity(name, pass.day, 1))
      },
    }
  }

  return {
    isOffered: () => mode() !== 'off',
    async next(used) {
      if (used < UNCHALLENGED_UPLOADS || !(await isOn().catch(refuseFault))) return null
      return newChallenge('upload').catch(refuseFault)
    },
    forPass: () => newChallenge('pass').catch(refuseFault),
    async issuePass(solution) {
      const isSpent = await spendSolution('pass', solution).catch(refuseFault)
      if (!isSpent) throw await refusal('pass', BAD_SOLUTION).catch(refuseFault)
      const { pass, expiresAt } = await tokens.pass().catch(refuseFault)
      return { pass, uploads: PASS_UPLOADS, expires: timeOf(expiresAt) }
    },
    async assertPresent({ solution, pass }, used) {
      if (!(await isOn())) return
      // Verified only after the reservation, so that a forgery counts as a refused upload.
      if (solution !== undefined || pass !== undefined) return
      if ((await used()) >= UNCHALLENGED_UPLOADS) throw await refusal('upload', MISSING_CREDENTIALS)
    },
    async spend({ solution, pass }, used) {
      if (!(await isOn())) {
        if (mode() === 'auto') rate.count()
        return NOTHING_SPENT
      }
      if (used <= UNCHALLENGED_UPLOADS) return NOTHING_SPENT
      if (solution !== undefined) {
        if (await spendSolution('upload', solution)) return NOTHING_SPENT
        throw await refusal('upload', BAD_SOLUTION)
      }
      if (pass === undefined) throw await refusal('upload', MISSING_CREDENTIALS)
      const spent = await spendPass(pass)
      if (spent === null) throw await refusal('upload', BAD_PASS)
      return spent
    },
    async stop() {
      await Promise.all([releasing.settled(), rate.stop()])
    },
  }
}
