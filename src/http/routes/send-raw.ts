/** GET /raw/<id> on hosts that do not answer it below the framework. */
import { responseOf } from '../answer.ts'
import type { AppContext, AppParts } from '../context.ts'
import { CONDITION_HEADERS } from './raw.ts'

export async function sendRaw(c: AppContext, parts: AppParts): Promise<Response> {
  const { pathname, search } = new URL(c.req.url)
  // An empty query is not in `search`, but makes another address to a cache.
  const query = search === '' && c.req.url.endsWith('?') ? '?' : search
  const answer = await parts.raw({
    method: c.req.method === 'HEAD' ? 'HEAD' : 'GET',
    target: pathname + query,
    isConditional: [...CONDITION_HEADERS].some((name) => c.req.header(name) !== undefined),
    header: (name) => c.req.header(name),
  })
  return answer === null ? c.notFound() : responseOf(answer)
}
