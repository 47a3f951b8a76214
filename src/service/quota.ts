/** The day's quota: so many stored images for each client address and UTC day, and never one more. */
import type { Ledger } from '../stores/ledger.ts'
import type { Hashes } from './hashes.ts'

export interface Quota {
  readonly limit: number
  /** Reserves an upload before the body is read. `null` if none is left. */
  reserve(address: string): Promise<Reservation | null>
  /** Uploads left, without reserving one. */
  remaining(address: string): Promise<number>
  /** Whole seconds to the next 00:00 UTC, at least 1. */
  secondsToReset(): number
}

export interface Reservation {
  /** Uploads left after this one. */
  readonly remaining: number
  /** Gives it back, to the day it was made on. Only the first call counts. */
  release(): Promise<void>
}

const DAY_MS = 86_400_000

/** Hex digits of an HMAC that tell addresses apart: 128 bits. */
const BUCKET_LENGTH = 32

/** Days that are over are kept this long, for uploads that began before midnight. */
const KEPT_DAYS = 2

export function createQuota(
  ledger: Ledger,
  options: { limit: number; now: () => number; hashes: Hashes },
): Quota {
  const { limit, now, hashes } = options
  const salts = new Map<string, Promise<Uint8Array>>()

  /** The key of the day's HMACs. No address is stored: the ledger holds its HMAC, and forgets the salt with the day. */
  function saltOf(day: string): Promise<Uint8Array> {
    let salt = salts.get(day)
    if (salt === undefined) {
      salt = loadSalt(day)
      salt.catch(() => salts.delete(day))
      for (const old of salts.keys()) if (old !== day) salts.delete(old)
      salts.set(day, salt)
    }
    return salt
  }

  async function loadSalt(day: string): Promise<Uint8Array> {
    const salt = await ledger.daySalt(day)
    // The day's first upload does not wait for it; what fails is forgotten the next day.
    ledger.forgetDaysBefore(dayOf(now() - KEPT_DAYS * DAY_MS)).catch(() => {})
    return salt
  }

  async function bucketOf(address: string, day: string): Promise<string> {
    return hashes.hmacSha256(await saltOf(day), address).slice(0, BUCKET_LENGTH)
  }

  return {
    limit,
    async reserve(address) {
      const day = dayOf(now())
      const bucket = await bucketOf(address, day)
      const used = await ledger.reserveUpload(bucket, day, limit)
      if (used === null) return null
      let held = true
      return {
        remaining: Math.max(0, limit - used),
        async release() {
          if (!held) return
          held = false
          await ledger.releaseUpload(bucket, day)
        },
      }
    },
    async remaining(address) {
      const day = dayOf(now())
      return Math.max(0, limit - (await ledger.usedUploads(await bucketOf(address, day), day)))
    },
    secondsToReset: () => Math.max(1, Math.ceil((DAY_MS - (now() % DAY_MS)) / 1000)),
  }
}

/** YYYY-MM-DD, UTC. */
function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}
