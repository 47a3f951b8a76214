/**
 * Moves images to where the operator's decisions put them: visible, held or removed. The decision is recorded before the
 * image is moved, so that another process finishes the move if this one dies. Only one process at a time moves an image, so
 * that the last decision wins.
 */

import { type BackgroundJob, createIntervalJob, sleep } from '../../async.ts'
import type { ImageType } from '../../protocol.ts'
import type { Ledger, Move } from '../../stores/ledger.ts'
import { type ObjectStore, removeAnywhere } from '../../stores/object-store.ts'
import { newId } from '../images/ids.ts'
import type { Purges } from '../images/purges.ts'

/** The job finishes moves that other processes left undone. */
export interface Moves extends BackgroundJob {
  /** Moves the image to where the last decision puts it. `false` if it was already there or does not exist. */
  carryOut(id: string): Promise<boolean>
}

/** Lease of a claim, longer than any move takes: if its process dies, another one takes over after this time. */
const LEASE_MS = 60_000
const RETRY_MS = 5_000
const INTERVAL_MS = 5_000
const MAX_PER_RUN = 20
/** Poll interval while another process moves the image. */
const BUSY_POLL_MS = 50
/** Interval between cleanups of what dead processes left in the store. */
const TIDY_INTERVAL_MS = 15 * 60_000
const DIGESTS_BATCH = 1000

export function createMoves(parts: {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  now: () => number
  /** Called for every failed move. */
  onFailure: (error: unknown, id: string | null) => void
  /** Maximum number of held images per cleanup, on hosts with time limits. 0: no cleanup. Default: all. */
  maxTidied?: number
}): Moves {
  const { objects, ledger, purges, now, onFailure, maxTidied = Number.POSITIVE_INFINITY } = parts
  let tidiedAt = 0

  async function execute(move: Move): Promise<{ moved: boolean; isDone: boolean }> {
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
    // Before, so that a crash cannot lose the purge. And again afterwards, as a cache fill in flight may have put the image
    // back.
    await purges.enqueue(id, type)
    const moved =
      to === 'held'
        ? await objects.hold(id)
        : // The ledger has already recorded the removal.
          (await removeAnywhere(objects, id, { retire: 'unless-full' })) !== null
    await purges.enqueue(id, type)
    purges.flush()
    return { moved, isThere: to === 'held' && (moved || (await isHeld(id))) }
  }

  /** `undefined` if the image is not visible, or damaged. */
  async function typeOf(id: string): Promise<ImageType | undefined> {
    return objects.head(id).then(
      (record) => record?.type,
      () => undefined,
    )
  }

  /** `true` for a damaged image too. */
  async function isHeld(id: string): Promise<boolean> {
    return objects.headHeld(id).then(
      (record) => record !== null,
      () => true,
    )
  }

  async function run(): Promise<void> {
    // Claims one move at a time: in a batch, later claims could expire while the first move is executed.
    for (let count = 0; count < MAX_PER_RUN; count++) {
      const [move] = await ledger.claimMoves(1, now(), LEASE_MS)
      if (move === undefined) break
      await execute(move).catch((error) => onFailure(error, move.id))
    }
    if (maxTidied === 0 || now() - tidiedAt < TIDY_INTERVAL_MS) return
    tidiedAt = now()
    await tidy()
    await recordDigests()
  }

  /**
   * Listing held images cleans up leftovers as a side effect. With a maximum, the listing starts at a random ID and wraps
   * around, so that every image is reached eventually.
   */
  async function tidy(): Promise<void> {
    let remaining = maxTidied
    for (const after of Number.isFinite(maxTidied) ? [newId(), ''] : ['']) {
      for await (const _ of objects.listHeld(after)) {
        if (--remaining <= 0) return
      }
    }
  }

  /** Backfills digests of held images: older versions did not record them, and a restored ledger may lack them. */
  async function recordDigests(): Promise<void> {
    for (const id of await ledger.heldWithoutDigests(Math.min(maxTidied, DIGESTS_BATCH), newId())) {
      const record = await objects.headHeld(id).catch((error) => onFailure(error, id))
      if (record) await ledger.recordHeldDigests(id, record)
    }
  }

  return {
    async carryOut(id) {
      for (let moved = false; ; ) {
        const move = await ledger.claimMove(id, now(), LEASE_MS)
        if (move === null) return moved
        if (move === 'busy') await sleep(BUSY_POLL_MS)
        else {
          const result = await execute(move)
          moved = result.moved
          if (result.isDone) return moved
        }
      }
    },
    ...createIntervalJob(run, INTERVAL_MS, (error) => onFailure(error, null)),
  }
}
