/**
 * Challenges and passes are signed, and nothing is stored of them until they are used. The key comes from the salt of the day
 * on which they expire: all servers have it, no backup does, and it is erased with the day.
 */
import { fromHex } from '../../bytes.ts'
import type { Puzzle } from '../../proof-of-work.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { Hashes } from '../hashes.ts'
import { equalInConstantTime } from '../images/ids.ts'
import { utcDayOf } from '../utc-day.ts'

/** What a challenge is solved for. */
export type Purpose = 'upload' | 'pass'

export interface Token {
  id: string
  /** Epoch milliseconds. */
  expiresAt: number
  /** UTC. */
  day: string
}

export interface ChallengeToken extends Token, Puzzle {
  purpose: Purpose
}

/** Time for a slow phone. Unit: seconds. */
export const CHALLENGE_SECONDS = 600
export const PASS_SECONDS = 86_400

/** Hex digits of a signature that are kept: 128 bits. */
const SIGNATURE_LENGTH = 32

const CHALLENGE =
  /^(?<purpose>upload|pass)-challenge\.(?<id>[0-9a-f]{32})\.(?<expires>\d{10,11})\.(?<iterations>\d{1,6})\.(?<bits>\d{1,2})\.(?<answers>\d{1,2})\.[0-9a-f]{32}$/
const PASS = /^pass\.(?<id>[0-9a-f]{32})\.(?<expires>\d{10,11})\.[0-9a-f]{32}$/

/** `now`: by the clock of all servers, epoch milliseconds. */
export function createTokens(parts: { ledger: Pick<Ledger, 'daySalt'>; hashes: Hashes; now: () => number }) {
  const { ledger, hashes, now } = parts

  /** By the salt that each is made of. */
  const keys = new WeakMap<Uint8Array, Uint8Array>()

  /** Not the salt itself, which is the key of HMACs of addresses. */
  async function keyOf(day: string): Promise<Uint8Array> {
    const salt = await ledger.daySalt(day)
    const key = keys.get(salt) ?? fromHex(hashes.hmacSha256(salt, 'key of challenges and passes'))
    keys.set(salt, key)
    return key
  }

  async function signatureOf(fields: string, day: string): Promise<string> {
    const key = await keyOf(day)
    return hashes.hmacSha256(key, fields).slice(0, SIGNATURE_LENGTH)
  }

  function newToken(seconds: number): Token & { expires: number } {
    const expires = Math.floor(now() / 1000) + seconds
    // 122 random bits, for a tenth of what the same number of bytes and their hex cost: a flood asks for many.
    const id = crypto.randomUUID().replaceAll('-', '')
    return { id, expires, expiresAt: expires * 1000, day: utcDayOf(expires * 1000) }
  }

  /** `longest`: no token of this kind is valid for longer, so no day is asked for but today and tomorrow. */
  async function read(
    pattern: RegExp,
    text: string,
    longest: number,
  ): Promise<(Token & { groups: Record<string, string> }) | null> {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) return null
    const expiresAt = Number(groups.expires) * 1000
    if (expiresAt <= now() || expiresAt > now() + longest * 1000) return null
    const day = utcDayOf(expiresAt)
    const at = text.lastIndexOf('.')
    const signature = await signatureOf(text.slice(0, at), day)
    if (!equalInConstantTime(text.slice(at + 1), signature)) return null
    return { id: groups.id!, expiresAt, day, groups }
  }

  return {
    async challenge(
      purpose: Purpose,
      { iterations, bits, answers }: Omit<Puzzle, 'token'>,
    ): Promise<ChallengeToken> {
      const { id, expires, ...times } = newToken(CHALLENGE_SECONDS)
      const fields = `${purpose}-challenge.${id}.${expires}.${iterations}.${bits}.${answers}`
      const token = `${fields}.${await signatureOf(fields, times.day)}`
      return { id, ...times, purpose, token, iterations, bits, answers }
    },
    async pass(): Promise<Token & { pass: string }> {
      const { id, expires, ...times } = newToken(PASS_SECONDS)
      const fields = `pass.${id}.${expires}`
      return { id, ...times, pass: `${fields}.${await signatureOf(fields, times.day)}` }
    },
    /** `null` for a token that was not signed here, was changed, or has expired. */
    async readChallenge(text: string): Promise<ChallengeToken | null> {
      const token = await read(CHALLENGE, text, CHALLENGE_SECONDS)
      if (token === null) return null
      const { groups, ...rest } = token
      const number = (name: string) => Number(groups[name])
      const work = { iterations: number('iterations'), bits: number('bits'), answers: number('answers') }
      return { ...rest, ...work, purpose: groups.purpose as Purpose, token: text }
    },
    async readPass(text: string): Promise<Token | null> {
      const token = await read(PASS, text, PASS_SECONDS)
      if (token === null) return null
      const { groups, ...rest } = token
      return rest
    },
  }
}
