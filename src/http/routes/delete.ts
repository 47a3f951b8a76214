/** DELETE /api/delete?key=<key> */
import { Refusal } from '../../errors.ts'
import type { DeleteAnswer } from '../../protocol.ts'
import type { AppContext, AppParts } from '../context.ts'
import { unknownKey } from './pages.ts'

export async function remove(c: AppContext, parts: AppParts): Promise<Response> {
  const key = c.req.query('key')
  if (!key) throw new Refusal('missing-key', 'Name the deletion key: DELETE /api/delete?key=…')
  if (!(await parts.images.remove(key))) throw unknownKey()
  parts.log.info({ requestId: c.get('requestId') }, 'image deleted')
  const answer: DeleteAnswer = { success: true }
  return c.json(answer)
}
