/** Proof of work before an upload, and passes that stand for it (docs/decisions/081). */
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
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import type { Settings } from '../settings.ts'
import { timeOf } from '../utc-day.ts'
import { type ChallengeToken, createTokens, type Purpose } from './tokens.ts'
import type { UploadRate } from './upload-rate.ts'

/** What an upload shows of itself, as it was sent. */
export interface Credentials {
  /** As in `SOLUTION_HEADER`. */
  solution?: string | undefined
  pass?: string | undefined
}

export interface Challenges {
  /** Whether there are challenges at all: now, or when many upload. */
  isOffered(): boolean
  /** A challenge for the next upload of an address with `used` uploads today; `null` if it needs none. Throws `Refusal`. */
  next(used: number): Promise<Challenge | null>
  /** A new challenge for a pass. Throws `Refusal`. */
  forPass(): Promise<Challenge>
  /** A pass for the solution. Throws `Refusal('challenge-required')`. */
  givePass(solution: string | undefined): Promise<PassAnswer>
  /**
   * Call it before an upload is reserved: throws `Refusal('challenge-required')` if one that shows this is not worth it.
   * `used`: uploads of its address today, without this one.
   */
  assertShown(shown: Credentials, used: () => Promise<number>): Promise<void>
  /**
   * Call it when the upload is reserved: uses up what it shows if it needs that. `used`: with this one. Throws
   * `Refusal('challenge-required')`.
   */
  spend(shown: Credentials, used: number): Promise<Spent>
  /** Resolves when what nobody waits for has ended. */
  stop(): Promise<void>
}

export interface Spent {
  /** Nothing was stored: a pass has this upload left again. A solution stays used up. */
  release(): void
}

/** How much work: about 5 × 2,048 × 1,000 iterations for an upload, 8 × 16,384 × 1,000 for a pass. */
export const WORK = {
  upload: { iterations: 1000, bits: 11, answers: 5 },
  pass: { iterations: 1000, bits: 14, answers: 8 },
} as const satisfies Record<Purpose, Omit<Challenge, 'token' | 'algorithm' | 'expires'>>

const SOLUTION = /^([\w.-]{1,200}):(\d{1,10}(?:,\d{1,10}){0,15})$/

const NOTHING_SPENT: Spent = { release() {} }

const NOTHING_SHOWN = `This address has made its first ${UNCHALLENGED_UPLOADS} uploads of today. Solve the challenge, or send a pass: ${PASS_PAGE_PATH} gives them.`
const BAD_PASS = `This pass is used up, has expired, or is not of this server. ${PASS_PAGE_PATH} gives another.`
const BAD_SOLUTION = 'This solution is wrong, was used before, or came too late.'

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

  /** What signature and time say. */
  async function read(
    purpose: Purpose,
    solution: string | undefined,
  ): Promise<{ token: ChallengeToken; counters: number[] } | null> {
    const [, text, counters] = SOLUTION.exec(solution ?? '') ?? []
    if (text === undefined) return null
    const token = await tokens.readChallenge(text)
    return token?.purpose === purpose ? { token, counters: counters!.split(',').map(Number) } : null
  }

  /**
   * `false` if it is none. The challenge is used up by the first answer that is right: wrong ones beside it can't be tried again,
   * and what comes without work costs one try. So does one that is shown again: asking first whether it was used would cost all others.
   */
  async function spendSolution(purpose: Purpose, solution: string | undefined): Promise<boolean> {
    const found = await read(purpose, solution)
    if (found === null) return false
    const { token, counters } = found
    const claim = () => ledger.takeCapacity(`challenge ${token.id}`, token.day, 1, 1)
    return isSolved(token, counters, claim, hashes.pbkdf2)
  }

  /** `null`: it is not valid, or used up. */
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
    async givePass(solution) {
      const isSpent = await spendSolution('pass', solution).catch(refuseFault)
      if (!isSpent) throw await refusal('pass', BAD_SOLUTION).catch(refuseFault)
      const { pass, expiresAt } = await tokens.pass().catch(refuseFault)
      return { pass, uploads: PASS_UPLOADS, expires: timeOf(expiresAt) }
    },
    async assertShown({ solution, pass }, used) {
      if (!(await isOn())) return
      // It is verified after the reservation, which counts a forged one as a refused upload.
      if (solution !== undefined || pass !== undefined) return
      if ((await used()) >= UNCHALLENGED_UPLOADS) throw await refusal('upload', NOTHING_SHOWN)
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
      if (pass === undefined) throw await refusal('upload', NOTHING_SHOWN)
      const spent = await spendPass(pass)
      if (spent === null) throw await refusal('upload', BAD_PASS)
      return spent
    },
    async stop() {
      await Promise.all([releasing.settled(), rate.stop()])
    },
  }
}
