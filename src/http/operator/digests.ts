/** SHA-256 of images by their ids, remembered: what an id names never changes. */
import { forEachAtOnce } from '../../async.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'

const REMEMBERED = 10_000
const READ_AT_ONCE = 16

/** Those that are not there are left out. */
export function createDigests(objects: ObjectStore): { of(ids: string[]): Promise<Map<string, string>> } {
  const known = new Map<string, string>()

  async function look(id: string): Promise<void> {
    try {
      const record = (await objects.head(id)) ?? (await objects.headHeld(id))
      if (record === null) return
      if (known.size >= REMEMBERED) known.delete(known.keys().next().value!)
      known.set(id, record.sha256)
    } catch (error) {
      if (!(error instanceof DamagedObject)) throw error
    }
  }

  return {
    async of(ids) {
      const unknown = ids.filter((id) => !known.has(id))
      await forEachAtOnce(unknown, READ_AT_ONCE, look)
      return new Map(ids.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])))
    },
  }
}
