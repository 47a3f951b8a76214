/** GET /api/challenge, POST /api/pass, GET /pass: proof of work, if the operator enabled it. */
import { type Challenge, SOLUTION_HEADER } from '../../protocol.ts'
import { refuseFault } from '../../service/faults.ts'
import { countedAsUsed } from '../../service/quota/quota.ts'
import { passPage } from '../../web/pages/pass.ts'
import type { AppContext, AppParts } from '../context.ts'
import { clientAddress } from '../headers/client-address.ts'
import { contextOf, sendCompressed } from './pages.ts'

/** Responds 204 when the next upload from this address needs no challenge. */
export async function sendChallenge(c: AppContext, parts: AppParts): Promise<Response> {
  const { challenges } = parts
  const isForPass = c.req.query('for') === 'pass'
  const challenge = isForPass
    ? await challenges.forPass()
    : await challenges.next(await usedUploads(c, parts))
  return challenge === null ? c.body(null, 204) : c.json(challenge satisfies Challenge)
}

/** Uploads counted against this address today. */
async function usedUploads(c: AppContext, { quota, trusted }: AppParts): Promise<number> {
  const address = clientAddress(c.env.peer, c.req.header('X-Forwarded-For'), trusted)
  return quota.limit - (await quota.remaining(address).catch(refuseFault)) + countedAsUsed(address)
}

export async function issuePass(c: AppContext, { origins, challenges }: AppParts): Promise<Response> {
  origins.assertAllowed((name) => c.req.header(name))
  return c.json(await challenges.issuePass(c.req.header(SOLUTION_HEADER)), 201)
}

export function sendPassPage(c: AppContext, parts: AppParts): Promise<Response> {
  return sendCompressed(c, passPage(contextOf(c, parts)))
}
