/** SHA-256 of images by their ids, remembered: what an id names never changes. */
import { forEachAtOnce } from '../../async.ts'
import { DamagedObject, type ObjectStore, StoreUnavailable } from '../../stores/object-store.ts'

const REMEMBERED = 10_000
const READ_AT_ONCE = 16

/**
 * `null`: the image is not there. Ids past `mostLooked` look-ups, and those that the store does not answer for, are left out.
 */
export function createDigests(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  mostLooked = Number.POSITIVE_INFINITY,
): { of(ids: string[]): Promise<ReadonlyMap<string, string | null>> } {
  const known = new Map<string, string>()

  function remember(id: string, digest: string): void {
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!)
    known.set(id, digest)
  }

  return {
    async of(ids) {
      const all = [...new Set(ids)]
      const found = new Map<string, string | null>(
        all.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])),
      )
      const unknown = all.filter((id) => !found.has(id)).slice(0, mostLooked)
      let isAway = false
      await forEachAtOnce(unknown, READ_AT_ONCE, async (id) => {
        if (isAway) return
        try {
          const record = (await objects.head(id)) ?? (await objects.headHeld(id))
          found.set(id, record?.sha256 ?? null)
          if (record !== null) remember(id, record.sha256)
        } catch (error) {
          // Cases can be decided without.
          if (error instanceof StoreUnavailable) isAway = true
          else if (!(error instanceof DamagedObject)) throw error
        }
      })
      return found
    },
  }
}
