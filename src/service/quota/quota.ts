/** The quota of stored images for each client address and UTC day. It is never exceeded. */
import { createBackgroundTasks } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import type { Ledger, Refusals, ReservedWith } from '../../stores/ledger.ts'
import type { Hashes } from '../hashes.ts'
import { secondsToNextDay, utcDayOf } from '../utc-day.ts'
import type { TagsOf } from './uploader-tags.ts'

export interface Quota {
  readonly limit: number
  /**
   * Reserves an upload before the body is read. `null` if all that are left are only reserved: they may yet be given
   * back. Throws `Refusal`: `quota-exceeded`, `network-quota-exceeded`, `too-many-refusals`.
   */
  reserve(client: ClientAddress, options?: ReserveOptions): Promise<Reservation | null>
  /** Uploads left, without reserving one. */
  remaining(address: ClientAddress): Promise<number>
  /** Whole seconds to the next 00:00 UTC, at least 1. */
  secondsToReset(): number
  /** Resolves when the confirmations that nobody waits for have ended. */
  stop(): Promise<void>
}

export interface ReserveOptions {
  /** Id of the image that is to be stored. */
  id?: string
  /** Nothing will be stored that was not before: reserves beyond the limit too. To be given back whatever comes of it. */
  isRepeat?: boolean
}

/** As the quota counts it: an IPv4 address or a /64, and its network: a /24 or a /48. */
export interface ClientAddress {
  address: string
  network: string
  /** It stands for a circuit of an onion service. Circuits are free: each upload of one is for a challenge. */
  isCircuit?: true
}

/** It ends once: with the first of these calls. */
export interface Reservation {
  /** Uploads left after this one. */
  readonly remaining: number
  /** Uploads of the address today, with this one. */
  readonly used: number
  /** The image is stored. Nobody waits for the ledger to learn it. */
  confirm(): void
  /**
   * Nothing is stored: gives the upload back, to the day it was reserved on. `refusedBytes`: what came of an upload that was refused
   * for what it was. It counts against the day's budget of refusals.
   */
  release(refusedBytes?: number): Promise<void>
}

export interface QuotaLimits {
  perDay: number
  /** What an address may be refused on one day. */
  refusals: Refusals
}

/** Hex digits of an HMAC that tell addresses apart: 128 bits. */
const BUCKET_LENGTH = 32

/** No upload takes longer: a reservation of this age was left by a process that died. */
const MAX_RESERVED_MS = 15 * 60_000

/**
 * The counts are in the ledger, which processes share: together they never exceed the quota. `stop` waits for confirmations.
 * Throws what the ledger throws, beside the refusals that `Quota` names.
 */
export function createQuota(
  ledger: Ledger,
  options: {
    limits: QuotaLimits
    now: () => number
    hashes: Hashes
    /** Uploads of a network, as set now. 0: no limit. */
    networkLimit?: () => number
    /** `null`: uploads get no tags. */
    tagsOf?: TagsOf | null
  },
): Quota {
  const { limits, now, hashes, networkLimit = () => 0, tagsOf = null } = options
  const { perDay } = limits
  const confirming = createBackgroundTasks()
  /** Reservations of this process that have not ended, by network. */
  const reserved = new Map<string, number>()

  /** An HMAC under the day's salt, which goes first: no address is stored. */
  async function bucketOf(address: string, day: string): Promise<string> {
    return hashes.hmacSha256(await ledger.daySalt(day), address).slice(0, BUCKET_LENGTH)
  }

  async function recordedWith(
    id: string | undefined,
    client: ClientAddress,
    day: string,
  ): Promise<ReservedWith> {
    const limit = networkLimit()
    // A label of its own: no network is ever an address.
    const shared = limit > 0 && {
      network: { bucket: await bucketOf(`network ${client.network}`, day), limit },
    }
    const tags = tagsOf !== null && id !== undefined && { tags: await tagsOf(id, client) }
    return { ...shared, ...tags }
  }

  /** Counts a reservation until the function that it returns is called: `false` if that was called before. */
  function count(network: string): () => boolean {
    reserved.set(network, (reserved.get(network) ?? 0) + 1)
    let isCounted = true
    return () => {
      if (!isCounted) return false
      isCounted = false
      const left = reserved.get(network)! - 1
      if (left === 0) reserved.delete(network)
      else reserved.set(network, left)
      return true
    }
  }

  /** `null` if it is worth another try: an upload was just released, or some are reserved, here or by other processes. */
  async function denied(bucket: string, day: string, limit: number): Promise<Refusal | null> {
    const { used, count, bytes, reserved: ofBucket, reservedAtMs } = await ledger.refusals(bucket, day)
    if (count >= limits.refusals.count || bytes >= limits.refusals.bytes) {
      return new Refusal(
        'too-many-refusals',
        'Too many uploads from this address were refused today. The counter resets at midnight UTC.',
      )
    }
    // It was full a moment ago: one was released meanwhile.
    if (used < limit) return null
    if (ofBucket > 0 && now() - reservedAtMs < MAX_RESERVED_MS) return null
    return quotaExceeded(perDay)
  }

  return {
    limit: perDay,
    async reserve(client, { id, isRepeat = false } = {}) {
      const { address, network } = client
      const day = utcDayOf(now())
      const bucket = await bucketOf(address, day)
      const more = isRepeat ? {} : await recordedWith(id, client, day)
      const limit = isRepeat ? perDay + 1 : perDay
      const reservation = { ...more, reservedAtMs: now() }
      const used = await ledger.reserveUpload(bucket, day, limit, limits.refusals, reservation)
      if (used === null) {
        const refusal = await denied(bucket, day, limit)
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
          // Lost if the ledger is unavailable: it counts as reserved until it expires.
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

/** `Refusal('quota-exceeded')`. */
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
