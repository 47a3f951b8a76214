import { remove } from '../../../client/api/remove.ts'
import { ServerRefusal } from '../../../client/errors.ts'
import { previewPath, rawPath } from '../../../protocol.ts'
import type { DeletionFacts } from '../../pages/page-facts.ts'
import type { History, Remembered } from './history.ts'

/**
 * Deletes a picture everywhere we can reach: the service, this browser's own cache, and the history. One that is
 * gone already counts as deleted. Rejects as `remove` does.
 */
export async function deletePicture(
  { id, key }: Pick<Remembered, 'id' | 'key'>,
  history: History,
): Promise<void> {
  await removeByKey(key)
  // It is gone, whatever this browser can write down: the next visit finds that out.
  await history.remove(id).catch(() => {})
  dispatchEvent(new CustomEvent('picture-deleted', { detail: id }))
  await evict(id)
}

/** False if it was gone already. Rejects as `remove` does. */
export async function removeByKey(key: string): Promise<boolean> {
  try {
    await remove(key)
    return true
  } catch (error) {
    if (error instanceof ServerRefusal && error.code === 'unknown-key') return false
    throw error
  }
}

/** Makes this browser's cache forget a picture that is no longer there: asked anew, it hears that. */
export async function evict(id: string): Promise<void> {
  const forget = (path: string) => fetch(path, { cache: 'reload' }).catch(() => {})
  await Promise.all([forget(rawPath(id)), forget(previewPath(id))])
}

/** Why a deletion failed, on a page without the words for uploads. That nobody answered is said only if nobody did. */
export function whyNot(error: unknown, { offline, refusals }: DeletionFacts['remove']): string {
  return error instanceof ServerRefusal ? (refusals[error.code] ?? error.detail) : offline
}
