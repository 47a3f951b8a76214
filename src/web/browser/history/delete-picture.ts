import { remove } from '../../../client/api/remove.ts'
import { ServerRefusal } from '../../../client/errors.ts'
import { previewPath, rawPath } from '../../../protocol.ts'
import type { History, Remembered } from './history.ts'

/**
 * Deletes a picture everywhere we can reach: the service, this browser's own cache, and the history. One that is
 * gone already counts as deleted. Rejects as `remove` does.
 */
export async function deletePicture(
  { id, key }: Pick<Remembered, 'id' | 'key'>,
  history: History,
): Promise<void> {
  await remove(key).catch((error) => {
    if (!(error instanceof ServerRefusal && error.code === 'unknown-key')) throw error
  })
  // It is gone, whatever this browser can write down: the next visit finds that out.
  await history.remove(id).catch(() => {})
  dispatchEvent(new CustomEvent('picture-deleted', { detail: id }))
  await evict(id)
}

/** Makes this browser's cache forget a picture that is no longer there: asked anew, it hears that. */
export async function evict(id: string): Promise<void> {
  const forget = (path: string) => fetch(path, { cache: 'reload' }).catch(() => {})
  await Promise.all([forget(rawPath(id)), forget(previewPath(id))])
}
