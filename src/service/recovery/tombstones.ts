/**
 * Replicates deletions, removals, holds and blocks to a second location that survives a lost disk. Each change leaves a
 * tombstone in the ledger, in the same transaction (an outbox), where it stays until it is written to the second location,
 * by another process if this one dies. Asynchronous: deletions and decisions don't wait for it.
 */

import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import type { Files } from '../../stores/files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { APPLIED_FACT, LOCATION_FACT, REACHED_FACT, type Tombstone } from '../../stores/tombstones.ts'
import type { Hashes } from '../hashes.ts'
import { restoreFromTombstones } from './reconcile.ts'
import { createTombstoneFiles, isTombstoneAct, latestPerSubject } from './tombstone-files.ts'

/** The job writes pending tombstones, including those left by earlier or other processes; `stop` flushes once more. */
export interface Tombstones extends BackgroundJob {
  /** Queue length, and the age of the oldest tombstone in seconds. `null` if there is no second location. */
  pending(): Promise<{ count: number; oldestSeconds: number } | null>
}

const INTERVAL_MS = 1000

/** Lease of a claim: another process takes over after this time. A slower write may be duplicated, which is harmless. */
const LEASE_MS = 10_000

/** Maximum number of tombstones per file. */
const BATCH = 1000

/** Short, as pending tombstones would be lost with the disk: writing resumes soon after the location is reachable again. */
const MAX_RETRY_MS = 15_000

/** How often the watermark is advanced, by all servers together. */
const FOLLOW_RATE = { intervalMs: 20_000, burst: 1 }

/** A change is committed within this time after its timestamp. */
const COMMITTED_MS = 10_000

/** How often files are checked for merging, by all servers together. */
const MERGE_RATE = { intervalMs: 60 * 60_000, burst: 1 }

/** For instances without a second location. */
export const NO_TOMBSTONES: Tombstones = {
  pending: async () => null,
  start: () => {},
  stop: async () => {},
}

export function createTombstones(parts: {
  ledger: Ledger
  objects: ObjectStore
  files: Files
  hashes: Hashes
  /** The location's name in the ledger. */
  location: string
  /** Whether the ledger is used with this location for the first time. */
  isNew: boolean
  now: () => number
  /** Called for the first of several consecutive failures; `onRecovery` when they end. */
  onFailure: (error: unknown) => void
  onRecovery: () => void
  intervalMs?: number
}): Tombstones {
  const { ledger, objects, now, onFailure, onRecovery } = parts
  const files = createTombstoneFiles(parts.files, parts.hashes)
  let isPrepared = false
  let { isNew: isNewToLedger } = parts
  let failures = 0
  /** No attempts before this time. */
  let retryAt = 0
  let followedAt = 0
  let isStarted = false

  /** Whether this server's location is the agreed one. If not, tombstones that it writes are missing in the new location. */
  const isCurrent = ({ [LOCATION_FACT]: location }: Record<string, string>) => location === parts.location

  async function prepare(): Promise<void> {
    if (isPrepared) return
    const facts = await ledger.facts()
    if (!isCurrent(facts)) return
    // Creates the location only until it was first reached. If it is missing later, its disk is not mounted.
    const isNew = isNewToLedger || facts[REACHED_FACT] !== parts.location
    if (isNew) await parts.files.make()
    const isEmpty = (await files.until()) === null
    const found = await files.id()
    const isApplied = facts[APPLIED_FACT] === (found ?? 'yes')
    // The ledger was lost and recreated, or the location's disk was not mounted before.
    if (!isEmpty && !isApplied) await restoreFromTombstones(await olderChanges(), ledger, objects)
    if (isEmpty || !isApplied || found === null) {
      const id = found ?? crypto.randomUUID()
      // First, as it throws if the location is unreachable.
      if (found === null) await files.identify(id)
      if (!isNew && (isEmpty || !isApplied)) await ledger.requeueTombstones(now())
      await ledger.writeFacts({ [APPLIED_FACT]: id }, { replace: true })
    }
    if (isEmpty) await files.follow(0)
    if (isNew) await ledger.writeFacts({ [REACHED_FACT]: parts.location }, { replace: true })
    isNewToLedger = false
    isPrepared = true
  }

  /** The location's tombstones, except those superseded by changes made while it was unreachable. */
  async function olderChanges(): Promise<Tombstone[]> {
    const { tombstones } = await files.read()
    const since = new Set(await ledger.unwrittenTombstones())
    // Includes changes already written: they went to the empty mount point while the disk was not mounted.
    for await (const { at, act, subject, rule } of ledger.everyAuditEntry()) {
      if (isTombstoneAct(act)) since.add({ at: Date.parse(at), order: Infinity, act, subject, rule })
    }
    return latestPerSubject([...tombstones, ...since]).filter((tombstone) => !since.has(tombstone))
  }

  /** `false` if there was nothing to write. */
  async function writeSome(): Promise<boolean> {
    const claimed = await ledger.claimTombstones(BATCH, now(), LEASE_MS)
    if (claimed === null) return false
    try {
      if (!isCurrent(await ledger.facts())) {
        await ledger.deferTombstones(claimed.claim, now())
        return false
      }
      await files.write(claimed.tombstones, now())
    } catch (error) {
      await ledger.deferTombstones(claimed.claim, now())
      throw error
    }
    await ledger.settleTombstones(claimed.claim)
    return true
  }

  async function follow(): Promise<void> {
    const at = now()
    if (Math.abs(at - followedAt) < FOLLOW_RATE.intervalMs) return
    followedAt = at
    const facts = await ledger.facts()
    if (!isCurrent(facts) || (await ledger.takeTokens('tombstones.follow', at, FOLLOW_RATE)) > 0) return
    // A disk was mounted or unmounted there.
    if ((await files.id()) !== facts[APPLIED_FACT]) {
      isPrepared = false
      await prepare()
      return
    }
    if ((await ledger.pendingTombstones()).count > 0) return
    await files.follow(at - COMMITTED_MS)
    if ((await ledger.takeTokens('tombstones.merge', now(), MERGE_RATE)) === 0) await files.merge(now())
  }

  async function run(isStopping: () => boolean): Promise<void> {
    if (performance.now() < retryAt) return
    try {
      await prepare()
      while ((await writeSome()) && !isStopping());
      await follow()
    } catch (error) {
      if (failures === 0) onFailure(error)
      retryAt = performance.now() + Math.min(MAX_RETRY_MS, backoffMs(failures++))
      return
    }
    if (failures > 0) onRecovery()
    failures = 0
  }

  const job = createIntervalJob(run, parts.intervalMs ?? INTERVAL_MS, onFailure)

  return {
    async pending() {
      const { count, oldest } = await ledger.pendingTombstones()
      return { count, oldestSeconds: oldest === null ? 0 : Math.max(0, Math.round((now() - oldest) / 1000)) }
    },
    start() {
      isStarted = true
      job.start()
    },
    async stop() {
      await job.stop()
      if (!isStarted) return
      if (failures === 0) job.runAgain()
      await job.stop()
    },
  }
}
