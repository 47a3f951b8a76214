/** What the operator does: hold, keep and remove images, block bytes. At once effective in every process. */
import type { Decision } from '../../stores/decisions.ts'
import type { Digests } from '../../stores/holds.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import type { ImageRecord, ObjectStore } from '../../stores/object-store.ts'
import { damagedIsThere, isHeld, recordAnywhere } from '../images/status.ts'
import { type Evidence, SEALED_RULE } from './evidence.ts'
import type { Moves } from './moves.ts'

/** What stands in the ledger beside an image. */
export interface RelatedImages {
  /** Ids of what the image's uploader stored within two days of it, the newest first. */
  sameUploader(id: string): Promise<string[]>
  /** The same of its network: a /24 or a /48. */
  sameNetwork(id: string): Promise<string[]>
}

export interface Takedown extends RelatedImages {
  /**
   * `removed`: it was there. Its id answers 410 from now on, in both cases. With the `decision` that this carries out nothing is
   * done if a later act has ended it.
   */
  remove(
    id: string,
    reason: string,
    options: { block: boolean; by?: Actor; decision?: Decision },
  ): Promise<{ removed: boolean; blocked: string[] }>
  /**
   * Takes an image out of sight, and its bytes from uploads, until it is released. `false` if there is none to be seen, or
   * it was removed.
   */
  hold(id: string, reason: string, by?: Actor): Promise<boolean>
  /** `false` if it is not held, or was removed. If its uploader deleted it, the bytes may be uploaded again. */
  release(id: string, reason: string, by?: Actor): Promise<boolean>
  /** Decides that a reported image stays; a held one is released. `false` if its case is not there, or it was removed. */
  keep(id: string, reason: string, by?: Actor): Promise<boolean>
  /** Moves the image to where the ledger says that it should be. */
  putRight(id: string): Promise<void>
  block(sha256: string, reason: string, by?: Actor): Promise<void>
  /** `false` if it was not blocked. */
  unblock(sha256: string, reason: string, by?: Actor): Promise<boolean>
}

/** An address has fewer uploads in two days, unless the operator allows more; a flood of a network is held in several acts. */
const MAX_OTHERS = 10_000

export function createTakedown(parts: {
  objects: ObjectStore
  ledger: Ledger
  moves: Moves
  now: () => number
  /** `null`: nothing is sealed. */
  evidence: Evidence | null
}): Takedown {
  const { objects, ledger, moves, evidence } = parts
  const at = () => new Date(parts.now())

  /** The operator decides about the bytes of a held image also when its uploader deleted it. */
  async function digestsOf(id: string, record: ImageRecord | null): Promise<Digests | null> {
    return record ?? (await ledger.holdOf(id))?.digests ?? null
  }

  async function look(id: string): Promise<ImageRecord | 'damaged' | null> {
    return recordAnywhere(objects, id).catch(damagedIsThere)
  }

  /** One that is out of sight already, until it is scanned. */
  async function unscanned(id: string): Promise<ImageRecord | 'damaged' | null> {
    if ((await ledger.whyAbsent(id))?.state !== 'scanning') return null
    return objects.headHeld(id).catch(damagedIsThere)
  }

  /** Before anything of the image goes. If that fails it is out of sight, and the removal can be tried again. */
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
    const visible = () => objects.head(id).catch(damagedIsThere)
    // Once more: its scan may end between the two.
    const found = (await visible()) ?? (await unscanned(id)) ?? (await visible())
    if (found === null) return false
    // Somebody has removed it since it was looked at: it is about to go.
    if (!(await ledger.recordHold(id, reason, at(), by, found === 'damaged' ? null : found))) return false
    const moved = await moves.carryOut(id)
    // A server of the same ledger may have been faster.
    return moved || (await objects.headHeld(id).catch(damagedIsThere)) !== null
  }

  return {
    hold,
    async remove(id, reason, { block, by, decision }) {
      await seal(id, reason, by)
      const found = await look(id)
      const record = found === 'damaged' ? null : found
      const known = block ? await digestsOf(id, record) : null
      const digests = new Set(known === null ? [] : [known.sha256, known.sentSha256])
      if (block && record?.preview !== undefined) digests.add(record.preview.sha256)
      const blocked = [...digests]
      // The removal is recorded first: a request that then finds no object is told why.
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
        // First: a process that dies in between leaves an open case, not a kept image that nobody sees.
        if (await isHeld(parts, id)) {
          if (!(await ledger.recordRelease(id, reason, at(), by))) return false
          await moves.carryOut(id)
        }
        const found = await look(id)
        const sha256 = found === 'damaged' ? undefined : found?.sha256
        if (await ledger.recordKeep(id, reason, at(), by, sha256)) return true
        // Somebody has held it again, or removed it.
      } while (await isHeld(parts, id))
      return false
    },
    async putRight(id) {
      await ledger.moveAgain(id)
      await moves.carryOut(id)
    },
    sameUploader: (id) => ledger.sameUploader(id, MAX_OTHERS),
    sameNetwork: (id) => ledger.sameNetwork(id, MAX_OTHERS),
    block: (sha256, reason, by) => ledger.block([sha256], reason, at(), by),
    unblock: (sha256, reason, by) => ledger.unblock(sha256, reason, at(), by),
  }
}

/** The ids, and those of all images of their uploaders or networks as asked for, each once. */
export async function withRelated(
  related: RelatedImages,
  ids: readonly string[],
  { sameUploader, sameNetwork }: { sameUploader: boolean; sameNetwork: boolean },
): Promise<string[]> {
  const all = new Set(ids)
  for (const id of ids) {
    // An uploader's images are among those of the network.
    if (sameNetwork) for (const other of await related.sameNetwork(id)) all.add(other)
    else if (sameUploader) for (const other of await related.sameUploader(id)) all.add(other)
  }
  return [...all]
}
