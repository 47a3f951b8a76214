/**
 * Decisions with a grace period for undo. A removal is irreversible, so the image is held immediately and removed when the
 * grace period ends. Its uploader can delete it meanwhile, so evidence is sealed immediately too. Pending decisions are in the
 * ledger, so another process carries them out if this one dies.
 */

import { type BackgroundJob, batchesOf, createIntervalJob, forEachConcurrent, sleep } from '../../async.ts'
import type { DecidedAct, DecidedImage, Decision } from '../../stores/decisions.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { isHeld, treatDamagedAsPresent } from '../images/status.ts'
import { type Evidence, SEALED_RULE } from './evidence.ts'
import type { Moves } from './moves.ts'
import type { Takedown } from './takedown.ts'

/** The job carries out due decisions, including those of processes that died. */
export interface Decisions extends BackgroundJob {
  /** `missed`: IDs that the decision does not apply to, or that have another decision pending. */
  decide(
    ids: string[],
    act: DecidedAct,
    options: { block: boolean; reason: string; by: Actor },
  ): Promise<{ batch: string; missed: string[] }>
  /** Decisions that can still be undone, newest first. */
  pending(): Promise<Decision[]>
  /** Undoes a batch and returns its IDs; empty if it is too late. */
  undo(batch: string, who: string): Promise<string[]>
}

/** How long a decision can be undone. */
export const UNDO_MS = 10_000
/** The same per image of a large batch: undo is offered once all are hidden, which takes up to half of this on S3. */
const UNDO_MS_PER_IMAGE = 30

const INTERVAL_MS = 5000
const LEASE_MS = 60_000
const RETRY_MS = 5000
const BATCH = 20
/** Images recorded per transaction. With SQLite, views wait for it. */
const RECORDED_AT_ONCE = 200
const MAX_LISTED = 1000
const CONCURRENCY = 8

/** `decide`, `pending` and `undo` throw whatever the ledger and the store throw. Errors of the job go to `onFailure`. */
export function createDecisions(parts: {
  objects: ObjectStore
  ledger: Ledger
  takedown: Takedown
  moves: Moves
  /** `null`: no evidence is kept. */
  evidence: Evidence | null
  now: () => number
  /** Called for every decision that could not be carried out. It is retried. */
  onFailure: (error: unknown, id: string | null) => void
  /** Maximum number of decisions per run. Default: all that are due. */
  maxPerRun?: number
}): Decisions {
  const { objects, ledger, takedown, moves, evidence, now, onFailure } = parts
  const { maxPerRun = Number.POSITIVE_INFINITY } = parts
  const timers = new Set<ReturnType<typeof setTimeout>>()

  async function currentImage(id: string): Promise<DecidedImage> {
    const found = await objects.head(id).catch(treatDamagedAsPresent)
    return { id, isVisible: found !== null, digests: found === 'damaged' ? null : found }
  }

  async function isApplicable(act: DecidedAct, id: string, visible: boolean): Promise<boolean> {
    if (act === 'hold') return visible
    const found = await ledger.caseOf(id)
    if (act === 'keep') return found !== null && found.state !== 'removed'
    if (visible || found !== null) return true
    return isHeld(parts, id)
  }

  async function carryOut(decision: Decision): Promise<void> {
    const { id, act, reason, who, rule, block } = decision
    const by = rule === '' ? { who } : { who, rule }
    try {
      // Recording the act also ends the decision, so that a crash cannot repeat it.
      if (act === 'remove') await takedown.remove(id, reason, { block, by, decision })
      else if (act === 'keep') await takedown.keep(id, reason, by)
      await ledger.finishDecision(decision)
    } catch (error) {
      onFailure(error, id)
      await ledger.deferDecision(decision, now() + RETRY_MS)
    }
  }

  async function run(): Promise<void> {
    for (let remaining = maxPerRun; remaining > 0; remaining -= BATCH) {
      const due = await ledger.claimDecisions(Math.min(BATCH, remaining), now(), LEASE_MS)
      await Promise.all(due.map(carryOut))
      if (due.length < BATCH) return
    }
  }

  const job = createIntervalJob(run, INTERVAL_MS, (error) => onFailure(error, null))

  function runAfter(ms: number): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      job.run()
    }, ms)
    timers.add(timer)
  }

  function moveAll(ids: string[]): Promise<void> {
    return forEachConcurrent(ids, CONCURRENCY, async (id) => {
      await moves.carryOut(id)
    })
  }

  return {
    async decide(ids, act, { block, reason, by }) {
      const batch = crypto.randomUUID()
      const missed: string[] = []
      const images: DecidedImage[] = []
      await forEachConcurrent([...new Set(ids)], CONCURRENCY, async (id) => {
        const image = await currentImage(id)
        if (await isApplicable(act, id, image.isVisible)) images.push(image)
        else missed.push(id)
      })
      const at = now()
      const undoMs = Math.max(UNDO_MS, images.length * UNDO_MS_PER_IMAGE)
      const decision = {
        batch,
        act,
        block,
        reason,
        who: by.who,
        rule: by.rule ?? '',
        at,
      }
      const added = new Set<string>()
      for (const [index, part] of batchesOf(images, RECORDED_AT_ONCE).entries()) {
        if (index > 0) await sleep(1)
        for (const id of await ledger.addDecisions({ ...decision, dueAt: at + undoMs + index }, part))
          added.add(id)
      }
      runAfter(undoMs + Math.ceil(images.length / RECORDED_AT_ONCE))
      const toHide = images.filter((image) => image.isVisible && added.has(image.id)).map(({ id }) => id)
      const [hiding] = await Promise.allSettled([act === 'keep' ? undefined : moveAll(toHide)])
      if (isSealed({ act, rule: decision.rule })) {
        // A failure is not final: the image is sealed again when it is removed.
        for (const id of added)
          await evidence?.keep(id, { reason, by }).catch((error) => onFailure(error, id))
      }
      if (hiding.status === 'rejected') throw hiding.reason
      return { batch, missed: [...missed, ...images.map(({ id }) => id).filter((id) => !added.has(id))] }
    },
    pending: () => ledger.pendingDecisions(now(), MAX_LISTED),
    async undo(batch, who) {
      const pending = await ledger.pendingDecisions(now(), Number.MAX_SAFE_INTEGER)
      const ids = await ledger.undoDecisions(batch, 'undone', new Date(now()), who)
      await moveAll(ids)
      if (pending.some((each) => each.batch === batch && isSealed(each))) {
        for (const id of ids) {
          // The image may have been removed, and sealed, before this decision.
          if ((await ledger.absenceReason(id))?.state !== 'removed') await evidence?.discard(id)
        }
      }
      return ids
    },
    start: job.start,
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      await job.stop()
    },
  }
}

function isSealed({ act, rule }: Pick<Decision, 'act' | 'rule'>): boolean {
  return act === 'remove' && rule === SEALED_RULE
}
