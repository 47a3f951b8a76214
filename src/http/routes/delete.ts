/** DELETE /api/delete?key=<key> */
import { Refusal } from '../../errors.ts'
import type { DeleteAnswer } from '../../protocol.ts'
import { idOfKey } from '../../service/images/ids.ts'
import type { AppContext, AppParts } from '../context.ts'

/** Throws `Refusal`: `missing-key`, `unknown-key`, `unavailable`. */
export async function remove(c: AppContext, parts: AppParts): Promise<Response> {
  const key = c.req.query('key')
  if (!key) throw new Refusal('missing-key', 'Pass the deletion key in the query: DELETE /api/delete?key=…')
  await deleteByKey(c, parts, key)
  const answer: DeleteAnswer = { success: true }
  return c.json(answer)
}

/** Deletes the image that the key belongs to. Throws `Refusal`: `unknown-key`, `unavailable`. */
export async function deleteByKey(c: AppContext, parts: AppParts, key: string): Promise<void> {
  const startedAt = performance.now()
  const isRemoved = await parts.images.remove(key)
  const outcome = isRemoved ? { outcome: 'deleted', id: idOfKey(key) } : { outcome: 'unknown-key' }
  const ms = Math.round(performance.now() - startedAt)
  parts.log.info({ requestId: c.get('requestId'), ...outcome, ms }, 'deletion')
  if (!isRemoved) throw unknownKey()
}

export function unknownKey(): Refusal {
  return new Refusal('unknown-key', 'No image has this deletion key. It may already have been deleted.')
}
