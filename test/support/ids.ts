/** Ids of images that do not exist. */
import { newId } from '../../src/service/images/ids.ts'
import type { ImageRecord, ObjectStore } from '../../src/stores/object-store.ts'

export function fakeIds(count: number): string[] {
  return Array.from({ length: count }, newId)
}

/** A fake store that returns a record for every id for which `isThere` is true. */
export function storeOf(isThere: (id: string) => boolean): ObjectStore {
  const head = async (id: string) => (isThere(id) ? ({ id } as ImageRecord) : null)
  return { head, headHeld: async () => null } as Partial<ObjectStore> as ObjectStore
}
