import { remove } from '../../../client/api/remove.ts'
import { ServerRefusal } from '../../../client/errors.ts'
import { EXTENSIONS, IMAGE_TYPES, type ImageType, previewPath, rawPath } from '../../../protocol.ts'
import type { DeletionFacts } from '../../pages/page-facts.ts'
import type { History, HistoryEntry } from './history.ts'

/**
 * Deletes a picture from the service, this browser's cache and the history. An already deleted picture counts as success.
 * Rejects as `remove` does.
 */
export async function deletePicture({ id, key, type }: HistoryEntry, history: History): Promise<void> {
  await removeByKey(key)
  // The picture is deleted even if the history can't be written: the next visit cleans up.
  await history.remove(id).catch(() => {})
  dispatchEvent(new CustomEvent('picture-deleted', { detail: id }))
  await evict(id, [type])
}

/** False if the picture was already deleted. Rejects as `remove` does. */
export async function removeByKey(key: string): Promise<boolean> {
  try {
    await remove(key)
    return true
  } catch (error) {
    if (error instanceof ServerRefusal && error.code === 'unknown-key') return false
    throw error
  }
}

/** Evicts a deleted picture from this browser's HTTP cache, by refetching every address that it may have been loaded from. */
export async function evict(id: string, types: readonly ImageType[] = IMAGE_TYPES): Promise<void> {
  const raw = rawPath(id)
  const direct = types.map((type) => `${raw}.${EXTENSIONS[type]}`)
  const refetch = (path: string) => fetch(path, { cache: 'reload' }).catch(() => {})
  await Promise.all([raw, `${raw}?dl=1`, ...direct, previewPath(id)].map(refetch))
}

/** Why a deletion failed, for pages without the upload messages. Reports "offline" only if no response arrived. */
export function deletionProblem(error: unknown, { offline, refusals }: DeletionFacts['remove']): string {
  return error instanceof ServerRefusal ? (refusals[error.code] ?? error.detail) : offline
}
