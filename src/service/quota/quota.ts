/** Upload quota per client address and UTC day. Never exceeded. */
import { createBackgroundTasks } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import { UNCHALLENGED_UPLOADS } from '../../protocol.ts'
import type { Ledger, Refusals, ReservationExtras } from '../../stores/ledger.ts'
import { secondsToNextDay, utcDayOf } from '../../utc-day.ts'
import type { Hashes } from '../hashes.ts'
import type { TagsOf } from './uploader-tags.ts'

export interface Quota {
  readonly limit: number
  /**
   * Reserves an upload before the body is read. `null` if the rest of the quota is reserved by uploads in flight, which may
   * yet release it. Throws `Refusal`: `quota-exceeded`, `network-quota-exceeded`, `too-many-refusals`.
   */
  reserve(client: ClientAddress, options?: ReserveOptions): Promise<Reservation | null>
  /** Remaining uploads, without reserving one. */
  remaining(address: ClientAddress): Promise<number>
  /** Whole seconds until the next 00:00 UTC, at least 1. */
  secondsToReset(): number
  /** Resolves when all background confirmations have ended. */
  stop(): Promise<void>
}

export interface ReserveOptions {
  /** ID of the image to be stored. */
  id?: string
  /** A retry that will store nothing new: may reserve beyond the limit. Must always be released. */
  isRepeat?: boolean
}

/** The units of the quota: an IPv4 address or IPv6 /64, and its network: a /24 or /48. */
export interface ClientAddress {
  address: string
  network: string
  /**
   * Stands for a circuit of an onion service. Circuits cost nothing to create, so each of their uploads needs a challenge.
   */
  isCircuit?: true
}

/** Uploads to count on top of those made: a Tor circuit starts with its unchallenged uploads used up. */
export function countedAsUsed({ isCircuit }: ClientAddress): number {
  return isCircuit ? UNCHALLENGED_UPLOADS : 0
}

/** Ends with the first call of `confirm` or `release`; further calls have no effect. */
export interface Reservation {
  /** Uploads left after this one. */
  readonly remaining: number
  /** The address's uploads today, including this one. */
  readonly used: number
  /** The image is stored. Written to the ledger in the background. */
  confirm(): void
  /**
   * Nothing is stored: returns the upload to the quota of the day it was reserved on. `refusedBytes`: bytes received of an
   * upload that was refused through the client's fault, or repeated; it counts, with these bytes, against the day's refusal
   * budget. `undefined`: neither counts.
   */
  release(refusedBytes?: number): Promise<void>
}

export interface QuotaLimits {
  perDay: number
  /** Refusal budget per address and day. */
  refusals: Refusals
}

/** HMACs of addresses are truncated to this many hex digits: 128 bits. */
const BUCKET_LENGTH = 32

/** Longer than any upload takes: an older reservation was left by a process that died. */
const MAX_RESERVED_MS = 15 * 60_000

/**
 * The counters are in the ledger, shared by all processes, which together never exceed the quota. Throws whatever the ledger
 * throws, besides the refusals that `Quota` names.
 */
export function createQuota(
  ledger: Ledger,
  options: {
    limits: QuotaLimits
    now: () => number
    hashes: Hashes
    /** Current limit of uploads per network. 0: no limit. */
    networkLimit?: () => number
    /** `null`: uploads are not tagged. */
    tagsOf?: TagsOf | null
  },
): Quota {
  const { limits, now, hashes, networkLimit = () => 0, tagsOf = null } = options
  const { perDay } = limits
  const confirming = createBackgroundTasks()
  /** This process's open reservations, by network. */
  const reserved = new Map<string, number>()

  /** An HMAC under the day's salt, so that no address is stored. The salt is erased before the counters. */
  async function bucketOf(address: string, day: string): Promise<string> {
    return hashes.hmacSha256(await ledger.daySalt(day), address).slice(0, BUCKET_LENGTH)
  }

  async function extrasOf(
    id: string | undefined,
    client: ClientAddress,
    at: number,
  ): Promise<ReservationExtras> {
    const day = utcDayOf(at)
    const limit = networkLimit()
    // A distinct label keeps networks apart from addresses.
    const network = limit > 0 && {
      network: { bucket: await bucketOf(`network ${client.network}`, day), limit },
    }
    const tags = tagsOf !== null && id !== undefined && { tags: await tagsOf(id, client, at) }
    return { ...network, ...tags }
  }

  /** Counts a reservation until the returned function is called, which returns `false` from its second call on. */
  function count(network: string): () => boolean {
    reserved.set(network, (reserved.get(network) ?? 0) + 1)
    let isCounted = true
    return () => {
      if (!isCounted) return false
      isCounted = false
      const remaining = reserved.get(network)! - 1
      if (remaining === 0) reserved.delete(network)
      else reserved.set(network, remaining)
      return true
    }
  }

  /**
   * The refusal after a failed reservation. `null` if a retry may succeed: an upload was just released, or some are
   * only reserved, by this or another process.
   */
  async function refusalFor(bucket: string, day: string, limit: number): Promise<Refusal | null> {
    const { used, count, bytes, reserved: ofBucket, reservedAtMs } = await ledger.refusals(bucket, day)
    if (count >= limits.refusals.count || bytes >= limits.refusals.bytes) {
      return new Refusal(
        'too-many-refusals',
        'Too many uploads from this address were refused today. The counter resets at midnight UTC.',
      )
    }
    // An upload was released in the meantime.
    if (used < limit) return null
    // A time in the future was written by a clock that was ahead.
    if (ofBucket > 0 && Math.abs(now() - reservedAtMs) < MAX_RESERVED_MS) return null
    return quotaExceeded(perDay)
  }

  return {
    limit: perDay,
    async reserve(client, { id, isRepeat = false } = {}) {
      const { address, network } = client
      const at = now()
      const day = utcDayOf(at)
      const bucket = await bucketOf(address, day)
      const extras = isRepeat ? {} : await extrasOf(id, client, at)
      const limit = isRepeat ? perDay + 1 : perDay
      const reservation = { ...extras, reservedAtMs: at }
      const used = await ledger.reserveUpload(bucket, day, limit, limits.refusals, reservation)
      if (used === null) {
        const refusal = await refusalFor(bucket, day, limit)
        if (refusal !== null) throw refusal
        return null
      }
      if (used === 'network-full') {
        if (reserved.has(network)) return null
        throw networkFull(networkLimit())
      }
      const end = count(network)
      return {
        remaining: Math.max(0, perDay - used),
        used,
        confirm() {
          if (!end()) return
          // If the ledger is unavailable, the upload stays reserved until the reservation expires.
          confirming.add(ledger.confirmUpload(bucket, day))
        },
        async release(refusedBytes) {
          if (end()) await ledger.releaseUpload(bucket, day, refusedBytes, reservation)
        },
      }
    },
    async remaining({ address }) {
      const day = utcDayOf(now())
      return Math.max(0, perDay - (await ledger.usedUploads(await bucketOf(address, day), day)))
    },
    secondsToReset: () => secondsToNextDay(now()),
    stop: confirming.settled,
  }
}

/** The refusal of an address that has used up its quota. */
export function quotaExceeded(perDay: number): Refusal {
  return new Refusal(
    'quota-exceeded',
    `This address has used all ${perDay} of its uploads for today. The counter resets at midnight UTC.`,
  )
}

function networkFull(limit: number): Refusal {
  return new Refusal(
    'network-quota-exceeded',
    `The network of this address has used all ${limit} of its uploads for today. The counter resets at midnight UTC.`,
  )
}
