/** The operator's actions: hold, keep and remove images, block bytes. They take effect immediately in every process. */
import type { Decision } from '../../stores/decisions.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import { digestsOf, type ImageRecord, type ObjectStore } from '../../stores/object-store.ts'
import { isHeld, recordAnywhere, treatDamagedAsPresent } from '../images/status.ts'
import { type Evidence, SEALED_RULE } from './evidence.ts'
import type { Moves } from './moves.ts'

export interface Takedown {
  /**
   * `removed`: whether the image existed. Either way, its ID answers 410 from now on. With a `decision` to carry out, does
   * nothing if a later action has superseded it.
   */
  remove(
    id: string,
    reason: string,
    options: { block: boolean; by?: Actor; decision?: Decision },
  ): Promise<{ removed: boolean; blocked: string[] }>
  /**
   * Hides an image and refuses uploads of its bytes until it is released. `false` if no such image is visible, or it was
   * removed.
   */
  hold(id: string, reason: string, by?: Actor): Promise<boolean>
  /** `false` if it is not held, or was removed. If its uploader deleted it, its bytes may be uploaded again. */
  release(id: string, reason: string, by?: Actor): Promise<boolean>
  /** Closes the case of a reported image in its favour and releases it if held. `false` if it has no case or was removed. */
  keep(id: string, reason: string, by?: Actor): Promise<boolean>
  /** Repairs a mismatch: moves the image to where the ledger says it belongs. */
  repairPlacement(id: string): Promise<void>
  block(sha256: string, reason: string, by?: Actor): Promise<void>
  /** `false` if the bytes were not blocked. */
  unblock(sha256: string, reason: string, by?: Actor): Promise<boolean>
  /** IDs of images stored by the same uploader within two days of this one, newest first. */
  sameUploader(id: string): Promise<string[]>
  /** Likewise for the uploader's network: a /24 or a /48. */
  sameNetwork(id: string): Promise<string[]>
}

export function createTakedown(parts: {
  objects: ObjectStore
  ledger: Ledger
  moves: Pick<Moves, 'carryOut'>
  now: () => number
  /** `null`: no evidence is kept. */
  evidence: Evidence | null
}): Takedown {
  const { objects, ledger, moves, evidence } = parts
  const at = () => new Date(parts.now())

  async function findRecord(id: string): Promise<ImageRecord | 'damaged' | null> {
    return recordAnywhere(objects, id).catch(treatDamagedAsPresent)
  }

  /** An image that is hidden until it is scanned. */
  async function unscanned(id: string): Promise<ImageRecord | 'damaged' | null> {
    if ((await ledger.absenceReason(id))?.state !== 'scanning') return null
    return objects.headHeld(id).catch(treatDamagedAsPresent)
  }

  /**
   * Call it before anything of the image is removed. On failure the image is held instead, and the removal can be retried.
   */
  async function seal(id: string, reason: string, by: Actor | undefined): Promise<void> {
    if (evidence === null || by?.rule !== SEALED_RULE) return
    try {
      await evidence.keep(id, { reason, by })
    } catch (cause) {
      await hold(id, reason, by)
      throw new Error('the evidence could not be sealed: the image is held, and not removed', { cause })
    }
  }

  async function hold(id: string, reason: string, by?: Actor): Promise<boolean> {
    const visible = () => objects.head(id).catch(treatDamagedAsPresent)
    // `visible` a second time, as the scan may have ended between the first two lookups.
    const found = (await visible()) ?? (await unscanned(id)) ?? (await visible())
    if (found === null) return false
    // `false` if the image was removed in the meantime.
    if (!(await ledger.recordHold(id, reason, at(), by, found === 'damaged' ? null : found))) return false
    const moved = await moves.carryOut(id)
    // Another server may have moved it first.
    return moved || (await objects.headHeld(id).catch(treatDamagedAsPresent)) !== null
  }

  return {
    hold,
    async remove(id, reason, { block, by, decision }) {
      await seal(id, reason, by)
      const found = await findRecord(id)
      const record = found === 'damaged' ? null : found
      // The hold remembers the digests of an image that its uploader deleted.
      const known = block ? (record ?? (await ledger.holdOf(id))?.digests) : null
      const blocked = known ? digestsOf(known) : []
      // Recorded before the object is removed, so that a request that finds no object gets the reason.
      const isRecorded = await ledger.recordRemoval(id, reason, at(), by, { blocked, decision })
      if (!isRecorded) return { removed: false, blocked: [] }
      await moves.carryOut(id)
      return { removed: found !== null, blocked }
    },
    async release(id, reason, by) {
      if (!(await isHeld(parts, id)) || !(await ledger.recordRelease(id, reason, at(), by))) return false
      await moves.carryOut(id)
      return true
    },
    async keep(id, reason, by) {
      do {
        const { state } = (await ledger.caseOf(id)) ?? { state: 'removed' }
        if (state === 'removed') return false
        // Released first, so that a crash in between leaves an open case rather than a kept image that stays hidden.
        if (await isHeld(parts, id)) {
          if (!(await ledger.recordRelease(id, reason, at(), by))) return false
          await moves.carryOut(id)
        }
        const found = await findRecord(id)
        const sha256 = found === 'damaged' ? undefined : found?.sha256
        if (await ledger.recordKeep(id, reason, at(), by, sha256)) return true
        // The image was held again or removed in the meantime.
      } while (await isHeld(parts, id))
      return false
    },
    async repairPlacement(id) {
      await ledger.requeueMove(id)
      await moves.carryOut(id)
    },
    sameUploader: (id) => ledger.sameUploader(id, Number.MAX_SAFE_INTEGER),
    sameNetwork: (id) => ledger.sameNetwork(id, Number.MAX_SAFE_INTEGER),
    block: (sha256, reason, by) => ledger.block([sha256], reason, at(), by),
    unblock: (sha256, reason, by) => ledger.unblock(sha256, reason, at(), by),
  }
}

/** The given IDs plus those of related images as requested, without duplicates. */
export async function withRelated(
  related: Pick<Takedown, 'sameUploader' | 'sameNetwork'>,
  ids: readonly string[],
  { sameUploader, sameNetwork }: { sameUploader: boolean; sameNetwork: boolean },
): Promise<string[]> {
  const all = new Set(ids)
  for (const id of ids) {
    // `sameNetwork` includes the uploader's own images.
    if (sameNetwork) for (const other of await related.sameNetwork(id)) all.add(other)
    else if (sameUploader) for (const other of await related.sameUploader(id)) all.add(other)
  }
  return [...all]
}
