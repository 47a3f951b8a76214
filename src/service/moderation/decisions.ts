/**
 * Decisions that can be undone for a while. A removal can't be taken back, so it is put off: the image is held at once,
 * and removed when the time is over. The ledger has what is due, so another process carries it out if one dies.
 */

import { type BackgroundJob, createIntervalJob, forEachConcurrent } from '../../async.ts'
import type { DecidedAct, DecidedImage, Decision } from '../../stores/decisions.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { damagedIsThere, isHeld } from '../images/status.ts'
import type { Moves } from './moves.ts'
import type { Takedown } from './takedown.ts'

/** Carries out what is due, also of processes that died. */
export interface Decisions extends BackgroundJob {
  /** `missed`: there is nothing to do it to, or another decision on it can still be undone. */
  decide(
    ids: string[],
    act: DecidedAct,
    options: { block: boolean; reason: string; by: Actor },
  ): Promise<{ batch: string; missed: string[] }>
  /** Those that can still be undone, the newest first. */
  pending(): Promise<Decision[]>
  /** The ids of the batch; none if it is too late. */
  undo(batch: string, who: string): Promise<string[]>
}

/** How long a decision can be undone. */
export const UNDO_MS = 10_000

const INTERVAL_MS = 5000
const LEASE_MS = 60_000
const RETRY_MS = 5000
const AT_ONCE = 20
const SHOWN = 1000
/** Images that are moved at the same time. */
const MOVED_AT_ONCE = 8

/**
 * Decisions are in the ledger, and any process carries out what is due. `decide`, `pending` and `undo` throw what the ledger and
 * the store throw; a round throws nothing: `onFailure` hears of it.
 */
export function createDecisions(parts: {
  objects: ObjectStore
  ledger: Ledger
  takedown: Takedown
  moves: Moves
  now: () => number
  /** Hears of every decision that could not be carried out. It is tried again. */
  onFailure: (error: unknown, id: string | null) => void
  /** Most decisions of one round. Default: all that are due. */
  maxPerRun?: number
}): Decisions {
  const { objects, ledger, takedown, moves, now, onFailure } = parts
  const { maxPerRun = Number.POSITIVE_INFINITY } = parts
  const soon = new Set<ReturnType<typeof setTimeout>>()

  async function look(id: string): Promise<DecidedImage> {
    const found = await objects.head(id).catch(damagedIsThere)
    return { id, isVisible: found !== null, digests: found === 'damaged' ? null : found }
  }

  async function canDo(act: DecidedAct, id: string, visible: boolean): Promise<boolean> {
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
      // The act ends the decision as it is recorded, so that no crash repeats it.
      if (act === 'remove') await takedown.remove(id, reason, { block, by, decision })
      else if (act === 'keep') await takedown.keep(id, reason, by)
      await ledger.finishDecision(decision)
    } catch (error) {
      onFailure(error, id)
      await ledger.deferDecision(decision, now() + RETRY_MS)
    }
  }

  async function round(): Promise<void> {
    for (let left = maxPerRun; left > 0; left -= AT_ONCE) {
      const due = await ledger.claimDecisions(Math.min(AT_ONCE, left), now(), LEASE_MS)
      await Promise.all(due.map(carryOut))
      if (due.length < AT_ONCE) return
    }
  }

  const job = createIntervalJob(round, INTERVAL_MS, (error) => onFailure(error, null))

  function beginAfter(ms: number): void {
    const timeout = setTimeout(() => {
      soon.delete(timeout)
      job.run()
    }, ms)
    soon.add(timeout)
  }

  function moveAll(ids: string[]): Promise<void> {
    return forEachConcurrent(ids, MOVED_AT_ONCE, async (id) => {
      await moves.carryOut(id)
    })
  }

  return {
    async decide(ids, act, { block, reason, by }) {
      const batch = crypto.randomUUID()
      const missed: string[] = []
      const images: DecidedImage[] = []
      for (const id of new Set(ids)) {
        const image = await look(id)
        if (await canDo(act, id, image.isVisible)) images.push(image)
        else missed.push(id)
      }
      const at = now()
      const decision = {
        batch,
        act,
        block,
        reason,
        who: by.who,
        rule: by.rule ?? '',
        at,
        dueAt: at + UNDO_MS,
      }
      const added = images.length === 0 ? [] : await ledger.addDecisions(decision, images)
      beginAfter(UNDO_MS + 1)
      const gone = images.filter((image) => image.isVisible && added.includes(image.id)).map(({ id }) => id)
      if (act !== 'keep') await moveAll(gone)
      return { batch, missed: [...missed, ...images.map(({ id }) => id).filter((id) => !added.includes(id))] }
    },
    pending: () => ledger.pendingDecisions(now(), SHOWN),
    async undo(batch, who) {
      const ids = await ledger.undoDecisions(batch, 'undone', new Date(now()), who)
      await moveAll(ids)
      return ids
    },
    start: job.start,
    async stop() {
      for (const timeout of soon) clearTimeout(timeout)
      soon.clear()
      await job.stop()
    },
  }
}
