/** The day's quota: so many stored images for each client address and UTC day, and never one more. */
import type { Ledger } from '../stores/ledger.ts'
import { toHex } from './ids.ts'

export interface Quota {
  readonly limit: number
  /** Takes a place before the body is read. `null` if none is left. */
  reserve(address: string): Promise<Place | null>
  /** Places left, without taking one. */
  remaining(address: string): Promise<number>
  /** Whole seconds to the next 00:00 UTC, at least 1. */
  secondsToReset(): number
}

export interface Place {
  /** Places left after this one. */
  readonly remaining: number
  /** Gives the place back, to the day it was taken from. Only the first call counts. */
  release(): Promise<void>
}

const DAY_MS = 86_400_000

/** Days that are over are kept this long, for uploads that began before midnight. */
const KEPT_DAYS = 2

export function createQuota(ledger: Ledger, options: { limit: number; now: () => number }): Quota {
  const { limit, now } = options
  const salts = new Map<string, Promise<CryptoKey>>()

  /** The day's HMAC key. No address is stored: the ledger holds its HMAC, and forgets the salt with the day. */
  function saltOf(day: string): Promise<CryptoKey> {
    let salt = salts.get(day)
    if (salt === undefined) {
      salt = loadSalt(day)
      salt.catch(() => salts.delete(day))
      for (const old of salts.keys()) if (old !== day) salts.delete(old)
      salts.set(day, salt)
    }
    return salt
  }

  async function loadSalt(day: string): Promise<CryptoKey> {
    const bytes = await ledger.daySalt(day)
    await ledger.forgetDaysBefore(dayOf(now() - KEPT_DAYS * DAY_MS))
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    return crypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['sign'])
  }

  async function bucketOf(address: string, day: string): Promise<string> {
    const mac = await crypto.subtle.sign('HMAC', await saltOf(day), new TextEncoder().encode(address))
    return toHex(new Uint8Array(mac, 0, 16))
  }

  return {
    limit,
    async reserve(address) {
      const day = dayOf(now())
      const bucket = await bucketOf(address, day)
      const used = await ledger.reservePlace(bucket, day, limit)
      if (used === null) return null
      let held = true
      return {
        remaining: Math.max(0, limit - used),
        async release() {
          if (!held) return
          held = false
          await ledger.releasePlace(bucket, day)
        },
      }
    },
    async remaining(address) {
      const day = dayOf(now())
      return Math.max(0, limit - (await ledger.usedPlaces(await bucketOf(address, day), day)))
    },
    secondsToReset: () => Math.max(1, Math.ceil((DAY_MS - (now() % DAY_MS)) / 1000)),
  }
}

/** YYYY-MM-DD, UTC. */
function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}
