/** Access to the admin server: a one-time login link starts a session; programs have bearer tokens of their own. */
import { toHex } from '../bytes.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { Hashes } from './hashes.ts'
import { equalInConstantTime } from './images/ids.ts'

export interface AdminSessions {
  /** Creates the token of a one-time login link, valid for ten minutes. */
  createLoginToken(who: string): Promise<string>
  /** Exchanges a login token for a session token. `null` if the link was used or has expired. */
  login(token: string): Promise<string | null>
  /** The owner of a session. `null` if there is none, or it was idle for half an hour. */
  session(token: string): Promise<Principal | null>
  /** Checks a program's bearer token. */
  program(token: string): Principal | null
  /** Whether the bearer token belongs to a scanner, or to a program with full access. */
  isScanner(token: string): boolean
  logout(session: string): Promise<void>
}

export interface Principal {
  who: string
  /** Anti-CSRF token in the forms of a session. `null` for programs, which other sites cannot drive. */
  formToken: string | null
}

const LOGIN_MS = 10 * 60_000
const IDLE_MS = 30 * 60_000
const MAX_MS = 12 * 3_600_000

const TOKEN_PATTERN = /^[0-9a-f]{64}$/

export function createAdminSessions(parts: {
  ledger: Pick<Ledger, 'putToken' | 'takeToken' | 'renewToken'>
  hashes: Pick<Hashes, 'sha256'>
  now: () => number
  /** Bearer token of programs. `null`: programs have no access. A new token ends all sessions, as the old one may have leaked. */
  programToken: string | null
  /** Bearer token of scanners. `null`: scanners have no token of their own. */
  scannerToken?: string | null
}): AdminSessions {
  const { ledger, hashes, now, programToken, scannerToken = null } = parts
  const isEqual = (token: string, known: string | null) =>
    known !== null && equalInConstantTime(hashes.sha256(token), hashes.sha256(known))

  const sha256Of = (kind: 'login' | 'session', token: string) =>
    hashes.sha256(kind === 'login' ? token : token + (programToken ?? ''))

  async function put(kind: 'login' | 'session', who: string, idleMs: number, maxMs: number) {
    const bytes = crypto.getRandomValues(new Uint8Array(32))
    const token = toHex(bytes)
    const at = now()
    const times = { expiresAt: at + idleMs, endsAt: at + maxMs }
    await ledger.putToken({ sha256: sha256Of(kind, token), kind, who, ...times }, at)
    return token
  }

  return {
    createLoginToken: (who) => put('login', who, LOGIN_MS, LOGIN_MS),
    async login(token) {
      if (!TOKEN_PATTERN.test(token)) return null
      const who = await ledger.takeToken(sha256Of('login', token), 'login', now())
      return who === null ? null : put('session', who, IDLE_MS, MAX_MS)
    },
    async session(token) {
      if (!TOKEN_PATTERN.test(token)) return null
      const who = await ledger.renewToken(sha256Of('session', token), 'session', now(), now() + IDLE_MS)
      return who === null ? null : { who, formToken: hashes.sha256(`form ${token}`) }
    },
    program: (token) => (isEqual(token, programToken) ? { who: 'program', formToken: null } : null),
    isScanner: (token) => isEqual(token, scannerToken) || isEqual(token, programToken),
    async logout(session) {
      await ledger.takeToken(sha256Of('session', session), 'session', now())
    },
  }
}
