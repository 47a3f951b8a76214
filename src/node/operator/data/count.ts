/** How many images there are. */
import { join } from 'node:path'
import { countImages } from '../../../stores/filesystem/listing.ts'
import type { OperatorData } from '../operator-data.ts'

/** A folder of this machine is read once, without order: a second for a million. Any other store lists its names. */
export async function countStored(
  { config, stores: { objects }, server }: Pick<OperatorData, 'config' | 'stores' | 'server'>,
  onProgress: (count: number) => void,
): Promise<number> {
  const isHere = config.objectsUrl === null && server === undefined
  if (isHere) return countImages(join(config.dataDir, 'images', 'objects'), onProgress)
  let count = 0
  for await (const _ of objects.list()) onProgress(++count)
  return count
}
