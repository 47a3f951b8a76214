/** Names of images that are none. */
import { newId } from '../../src/service/images/ids.ts'
import type { ImageRecord, ObjectStore } from '../../src/stores/object-store.ts'

export function fakeIds(count: number): string[] {
  return Array.from({ length: count }, newId)
}

/** A store that has an image of every id for which `isThere`, as far as records are asked for. */
export function storeOf(isThere: (id: string) => boolean): ObjectStore {
  const head = async (id: string) => (isThere(id) ? ({ id } as ImageRecord) : null)
  return { head, headHeld: async () => null } as Partial<ObjectStore> as ObjectStore
}
