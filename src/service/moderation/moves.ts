/**
 * Carries out where the operator wants images to be. The act is written before the image is moved, so that a process
 * that dies in between leaves it to another; one process at a time moves an image, so that the last act wins.
 */

import { type BackgroundJob, createIntervalJob, sleep } from '../../async.ts'
import type { ImageType } from '../../protocol.ts'
import type { Ledger, Move } from '../../stores/ledger.ts'
import { type ObjectStore, removeAnywhere } from '../../stores/object-store.ts'
import { newId } from '../images/ids.ts'
import type { Purges } from '../images/purges.ts'

/** Finishes what processes left that died. */
export interface Moves extends BackgroundJob {
  /** Moves the image to where the last act wants it. Resolves when it is there; `false` if it was there or is nowhere. */
  carryOut(id: string): Promise<boolean>
}

/** A process that dies gives back its claim after this time. A move takes less. */
const LEASE_MS = 60_000
const RETRY_MS = 5_000
const INTERVAL_MS = 5_000
const MAX_PER_RUN = 20
/** Another process is at it. */
const LOOK_AGAIN_MS = 50
/** Between two looks for what dead processes left in the store. */
const TIDY_MS = 15 * 60_000
const DIGESTS_AT_ONCE = 1000

export function createMoves(parts: {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  now: () => number
  /** Hears of every move that failed. */
  onFailure: (error: unknown, id: string | null) => void
  /** Held images that are looked at for what dead processes left, where a round must end soon. 0: none. Default: all. */
  maxTidied?: number
}): Moves {
  const { objects, ledger, purges, now, onFailure, maxTidied = Number.POSITIVE_INFINITY } = parts
  let tidiedAt = 0

  async function make(move: Move): Promise<{ moved: boolean; isDone: boolean }> {
    try {
      const { moved, isThere } = await moveImage(move)
      return { moved, isDone: await ledger.finishMove(move, isThere) }
    } catch (error) {
      await ledger.deferMove(move, now() + RETRY_MS).catch(() => {})
      throw error
    }
  }

  async function moveImage({ id, to }: Move): Promise<{ moved: boolean; isThere: boolean }> {
    if (to === 'visible') {
      const moved = await objects.release(id)
      return { moved, isThere: moved }
    }
    const type = await typeOf(id)
    // Before, so that no crash loses the purge; and after: a fill that was under way may have put the image back.
    await purges.enqueue(id, type)
    const moved =
      to === 'held'
        ? await objects.hold(id)
        : // The ledger knows of the removal already.
          (await removeAnywhere(objects, id, { retire: 'unless-full' })) !== null
    await purges.enqueue(id, type)
    purges.flush()
    return { moved, isThere: to === 'held' && (moved || (await isHeld(id))) }
  }

  /** If it is in sight, and whole. */
  async function typeOf(id: string): Promise<ImageType | undefined> {
    return objects.head(id).then(
      (record) => record?.type,
      () => undefined,
    )
  }

  /** A damaged one too. */
  async function isHeld(id: string): Promise<boolean> {
    return objects.headHeld(id).then(
      (record) => record !== null,
      () => true,
    )
  }

  async function round(): Promise<void> {
    // One at a time: claims of others would end while the first is made.
    for (let nth = 0; nth < MAX_PER_RUN; nth++) {
      const [move] = await ledger.claimMoves(1, now(), LEASE_MS)
      if (move === undefined) break
      await make(move).catch((error) => onFailure(error, move.id))
    }
    if (maxTidied === 0 || now() - tidiedAt < TIDY_MS) return
    tidiedAt = now()
    await tidy()
    await recordDigests()
  }

  /** Listing clears away. A look that must end soon begins anywhere and goes round: so it comes to all, however many are held. */
  async function tidy(): Promise<void> {
    let left = maxTidied
    for (const after of Number.isFinite(maxTidied) ? [newId(), ''] : ['']) {
      for await (const _ of objects.listHeld(after)) {
        if (--left <= 0) return
      }
    }
  }

  /** Records digests that older servers did not record with a hold, or that a restored ledger lacks. A damaged image has none. */
  async function recordDigests(): Promise<void> {
    for (const id of await ledger.heldWithoutDigests(Math.min(maxTidied, DIGESTS_AT_ONCE), newId())) {
      const record = await objects.headHeld(id).catch((error) => onFailure(error, id))
      if (record) await ledger.recordHeldDigests(id, record)
    }
  }

  return {
    async carryOut(id) {
      for (let moved = false; ; ) {
        const move = await ledger.claimMove(id, now(), LEASE_MS)
        if (move === null) return moved
        if (move === 'busy') await sleep(LOOK_AGAIN_MS)
        else {
          const made = await make(move)
          moved = made.moved
          if (made.isDone) return moved
        }
      }
    },
    ...createIntervalJob(round, INTERVAL_MS, (error) => onFailure(error, null)),
  }
}
