/** Names of images that are none. */
import { newId } from '../../src/service/ids.ts'

export function fakeIds(count: number): string[] {
  return Array.from({ length: count }, newId)
}
