import { remove } from '../../../client/api/remove.ts'
import { ServerRefusal } from '../../../client/errors.ts'
import { EXTENSIONS, type ImageType, imagePaths } from '../../../protocol.ts'
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
  await evict(id, type)
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

/** Evicts a deleted picture from this browser's HTTP cache by refetching it. `type`: if known, there are fewer paths. */
export async function evict(id: string, type?: ImageType): Promise<void> {
  const refetch = (path: string) => fetch(path, { cache: 'reload' }).catch(() => {})
  await Promise.all(imagePaths(id, type && EXTENSIONS[type]).map(refetch))
}

/** Why a deletion failed, for pages without the upload messages. Reports "offline" only if no response arrived. */
export function deletionProblem(error: unknown, { offline, refusals }: DeletionFacts['remove']): string {
  return error instanceof ServerRefusal ? (refusals[error.code] ?? error.detail) : offline
}
