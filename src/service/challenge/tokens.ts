/**
 * Stateless signed tokens for challenges and passes; nothing is stored until they are used. The signing key is derived from
 * the salt of the day on which they expire: all servers share it, no backup contains it, and it is erased with that day.
 */
import { fromHex } from '../../bytes.ts'
import type { Puzzle } from '../../proof-of-work.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { utcDayOf } from '../../utc-day.ts'
import type { Hashes } from '../hashes.ts'
import { equalInConstantTime } from '../images/ids.ts'

/** What solving a challenge grants. */
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

/** Enough for a slow phone. Unit: seconds. */
export const CHALLENGE_SECONDS = 600
export const PASS_SECONDS = 86_400

/** Signatures are truncated to this many hex digits: 128 bits. */
const SIGNATURE_LENGTH = 32

const CHALLENGE =
  /^(?<purpose>upload|pass)-challenge\.(?<id>[0-9a-f]{32})\.(?<expires>\d{10,11})\.(?<iterations>\d{1,6})\.(?<bits>\d{1,2})\.(?<answers>\d{1,2})\.[0-9a-f]{32}$/
const PASS = /^pass\.(?<id>[0-9a-f]{32})\.(?<expires>\d{10,11})\.[0-9a-f]{32}$/

/** `now`: the shared clock, epoch milliseconds. */
export function createTokens(parts: { ledger: Pick<Ledger, 'daySalt'>; hashes: Hashes; now: () => number }) {
  const { ledger, hashes, now } = parts

  /** Derived keys by salt. */
  const keys = new WeakMap<Uint8Array, Uint8Array>()

  /** A derived key, as the salt itself already keys the HMACs of addresses. */
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
    // 122 random bits, at a tenth of the cost of random bytes plus hex encoding: a flood requests many tokens.
    const id = crypto.randomUUID().replaceAll('-', '')
    return { id, expires, expiresAt: expires * 1000, day: utcDayOf(expires * 1000) }
  }

  /**
   * `maxSeconds`: maximum validity of this kind of token, so that only the salts of today and tomorrow are ever looked up.
   */
  async function read(
    pattern: RegExp,
    text: string,
    maxSeconds: number,
  ): Promise<(Token & { groups: Record<string, string> }) | null> {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) return null
    const expiresAt = Number(groups.expires) * 1000
    if (expiresAt <= now() || expiresAt > now() + maxSeconds * 1000) return null
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
    /** `null` if the token has expired or its signature is invalid. */
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
