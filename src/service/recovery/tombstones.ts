/**
 * Deletions, removals, holds and blocks, written to a second place that survives the disk. Each leaves a tombstone in the
 * ledger, in the transaction of the change, and stays there until it is in the second place: if a process dies before
 * that, another writes it. Nobody who deletes or decides waits for that.
 */

import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import type { Files } from '../../stores/files.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { APPLIED, REACHED, type Tombstone } from '../../stores/tombstones.ts'
import type { Hashes } from '../hashes.ts'
import { applyToAll } from './reconcile.ts'
import { createTombstoneFiles, isTombstoneAct, lastOf } from './tombstone-files.ts'

/** Writes what is due, also what earlier or other processes left; `stop` writes once more. */
export interface Tombstones extends BackgroundJob {
  /** How many are queued, and the age of the oldest in seconds. `null` if there is no second place. */
  pending(): Promise<{ count: number; oldestSeconds: number } | null>
}

const INTERVAL_MS = 1000

/** A process that dies gives back its claim after this time. One that writes more slowly may write twice, which is harmless. */
const LEASE_MS = 10_000

/** Most tombstones of one file. */
const BATCH = 1000

/** What waits would be lost with the disk: a place that is back is not kept waiting. */
const MAX_RETRY_MS = 15_000

/** How often all servers together write down that nothing waits. */
const FOLLOW_RATE = { intervalMs: 20_000, burst: 1 }

/** A change is committed within this time of its own. */
const COMMITTED_MS = 10_000

/** How often they look whether there is something to merge. */
const MERGE_RATE = { intervalMs: 60 * 60_000, burst: 1 }

/** There is no second place. */
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
  /** As the ledger names it. */
  place: string
  /** The ledger leaves tombstones for this place for the first time. */
  isNew: boolean
  now: () => number
  /** Hears of the first failure of several in a row, and of the end of them. */
  onFailure: (error: unknown) => void
  onRecovery: () => void
  intervalMs?: number
}): Tombstones {
  const { ledger, objects, now, onFailure, onRecovery } = parts
  const files = createTombstoneFiles(parts.files, parts.hashes)
  let isPrepared = false
  let { isNew: isNewToLedger } = parts
  let failures = 0
  /** Nothing is tried before. */
  let quietUntil = 0
  let followedAt = 0
  let isStarted = false

  async function prepare(): Promise<void> {
    if (isPrepared) return
    const facts = await ledger.facts()
    // Until it was reached once, also by a server that did not get far. If it is missing later, its disk is not there.
    const isNew = isNewToLedger || facts[REACHED] !== parts.place
    if (isNew) await parts.files.make()
    const isEmpty = (await files.until()) === null
    const found = await files.id()
    const isApplied = facts[APPLIED] === (found ?? 'yes')
    // A ledger that was lost begins anew, or its disk was not mounted so far.
    if (!isEmpty && !isApplied) await applyToAll(await olderChanges(), ledger, objects)
    if (isEmpty || !isApplied || found === null) {
      const id = found ?? crypto.randomUUID()
      // First, for it throws if the place is away.
      if (found === null) await files.identify(id)
      if (!isNew && (isEmpty || !isApplied)) await ledger.repeatTombstones(now())
      await ledger.writeFacts({ [APPLIED]: id }, { replace: true })
    }
    if (isEmpty) await files.follow(0)
    if (isNew) await ledger.writeFacts({ [REACHED]: parts.place }, { replace: true })
    isNewToLedger = false
    isPrepared = true
  }

  /** What the place has, but for what was decided anew while it was away. */
  async function olderChanges(): Promise<Tombstone[]> {
    const { tombstones } = await files.read()
    const since = new Set(await ledger.waitingTombstones())
    // Those already written too: they went to the folder that stood there while the disk was not mounted.
    for await (const { at, act, subject, rule } of ledger.everyAuditEntry()) {
      if (isTombstoneAct(act)) since.add({ at: Date.parse(at), order: Infinity, act, subject, rule })
    }
    return lastOf([...tombstones, ...since]).filter((tombstone) => !since.has(tombstone))
  }

  /** `false` if there was nothing to write. */
  async function writeSome(): Promise<boolean> {
    const claimed = await ledger.claimTombstones(BATCH, now(), LEASE_MS)
    if (claimed === null) return false
    try {
      await files.write(claimed.tombstones, now())
    } catch (error) {
      await ledger.deferTombstones(claimed.claim, now())
      throw error
    }
    await ledger.settleTombstones(claimed.claim)
    return true
  }

  async function follow(): Promise<void> {
    const lookedAt = now()
    if (Math.abs(lookedAt - followedAt) < FOLLOW_RATE.intervalMs) return
    followedAt = lookedAt
    if ((await ledger.takeTurn('tombstones.follow', lookedAt, FOLLOW_RATE)) > 0) return
    // A disk was mounted there, or is no more.
    if ((await files.id()) !== (await ledger.facts())[APPLIED]) {
      isPrepared = false
      await prepare()
      return
    }
    if ((await ledger.pendingTombstones()).count > 0) return
    await files.follow(lookedAt - COMMITTED_MS)
    if ((await ledger.takeTurn('tombstones.merge', now(), MERGE_RATE)) === 0) await files.merge(now())
  }

  async function round(): Promise<void> {
    if (performance.now() < quietUntil) return
    try {
      await prepare()
      while (await writeSome());
      await follow()
    } catch (error) {
      if (failures === 0) onFailure(error)
      quietUntil = performance.now() + Math.min(MAX_RETRY_MS, backoffMs(failures++))
      return
    }
    if (failures > 0) onRecovery()
    failures = 0
  }

  const job = createIntervalJob(round, parts.intervalMs ?? INTERVAL_MS, onFailure)

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
