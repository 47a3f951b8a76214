/** What the operator does: remove images, block bytes, look at the state. At once effective in every process. */
import type { Act, Ledger } from '../stores/ledger.ts'
import { DamagedObject, type ObjectStore } from '../stores/object-store.ts'
import type { Purges } from './purges.ts'

export interface Takedown {
  /** `removed`: it was there. Its id answers 410 from now on, in both cases. */
  remove(
    id: string,
    reason: string,
    options: { block: boolean },
  ): Promise<{ removed: boolean; blocked: string[] }>
  block(sha256: string, reason: string): Promise<void>
  /** `false` if it was not blocked. */
  unblock(sha256: string, reason: string): Promise<boolean>
  status(): Promise<Status>
}

export interface Status {
  images: number
  removals: number
  blocks: number
  purgesOwed: number
  acts: Act[]
}

/** Acts that `status` shows. */
const SHOWN_ACTS = 20

export function createTakedown(parts: {
  objects: ObjectStore
  ledger: Ledger
  purges: Purges
  now: () => number
}): Takedown {
  const { objects, ledger, purges } = parts
  const at = () => new Date(parts.now())

  return {
    async remove(id, reason, { block }) {
      const record = await objects.head(id).catch((error) => {
        // A damaged image has no record to read, and must go all the same.
        if (error instanceof DamagedObject) return null
        throw error
      })
      const digests = block && record !== null ? [...new Set([record.sha256, record.sentSha256])] : []
      if (digests.length > 0) await ledger.block(digests, reason, at())
      // The removal is written first: whoever misses the object then learns why.
      await ledger.recordRemoval(id, reason, at())
      await purges.owe(id)
      const removed = await objects.remove(id)
      await purges.owe(id)
      purges.hurry()
      return { removed, blocked: digests }
    },
    block: (sha256, reason) => ledger.block([sha256], reason, at()),
    unblock: (sha256, reason) => ledger.unblock(sha256, reason, at()),
    async status() {
      let images = 0
      for await (const _ of objects.list()) images++
      const [{ removals, blocks, purgesOwed }, acts] = await Promise.all([
        ledger.counts(),
        ledger.acts(SHOWN_ACTS),
      ])
      return { images, removals, blocks, purgesOwed, acts }
    },
  }
}
