/**
 * What a scanner elsewhere asks, by its own token: pictures to look at, and what it may block near copies of. It sees no picture
 * but those that it claimed, and decides about no other.
 */
import type { Hono } from 'hono'
import { jsonObject } from '../../json.ts'
import { type Verdict, verdictOf } from '../../scan/scanner.ts'
import { isSevere } from '../../service/moderation/scan-gate.ts'
import type { ScanTask } from '../../service/moderation/scanning.ts'
import { readText } from '../body.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { bearerOf } from '../headers/common.ts'
import type { OperatorParts } from './access.ts'
import { sendPicture } from './picture.ts'

const BODY_MAX_BYTES = 16 * 1024
const MAX_CLAIMED = 64

/** Acts that are looked through for removals. */
const ACTS = 1000

const SCAN_PATH = '/scans/:id{[0-9A-Za-z]{11}}'

export function addScans(app: Hono<AppEnv>, { scanning, sessions, ledger, objects }: OperatorParts): void {
  const forScanners = (handle: (c: AppContext) => Promise<Response>) => async (c: AppContext) => {
    const token = bearerOf(c.req.header('Authorization'))
    if (token !== undefined && sessions.isScanner(token)) return handle(c)
    return c.json({ mistake: 'This wants SCANNER_TOKEN or OPERATOR_TOKEN.' }, 401)
  }

  const sendClaimed = (part: 'all' | 'preview') =>
    forScanners(async (c) => {
      const claim = Number(c.req.query('claim'))
      const isTheirs = Number.isSafeInteger(claim) && (await scanning.isClaimed(c.req.param('id')!, claim))
      return isTheirs ? sendPicture(c, objects, part) : overdue(c)
    })

  // `{"limit": 8}` → `{"scans": […]}`
  app.post(
    '/scans/claim',
    forScanners(async (c) => {
      const { limit = 1 } = await bodyOf(c)
      if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_CLAIMED) {
        return c.json({ mistake: `limit is a whole number from 1 to ${MAX_CLAIMED}.` }, 400)
      }
      return c.json({ scans: (await scanning.claim(limit)).map(toldOf) })
    }),
  )
  // `{"claim": 123, "verdict": "clean"}`: see `verdictOf`.
  app.post(
    SCAN_PATH,
    forScanners(async (c) => {
      const given = await bodyOf(c)
      const verdict = verdictIn(given)
      if (verdict === null || !Number.isSafeInteger(given.claim)) {
        return c.json({ mistake: 'Send {"claim": …, "verdict": "clean", "flag", "hold" or "block"}.' }, 400)
      }
      const isDone = await scanning.decide(c.req.param('id')!, given.claim as number, verdict)
      return isDone ? c.json({ done: true }) : overdue(c)
    }),
  )
  app.get(`${SCAN_PATH}/bytes`, sendClaimed('all'))
  app.get(`${SCAN_PATH}/preview`, sendClaimed('preview'))
  // Newest first: what was removed for a severe category.
  app.get(
    '/scans/removals',
    forScanners(async (c) => {
      const acts = await ledger.auditLog(ACTS)
      const severe = acts.filter(({ act, rule }) => act === 'remove' && isSevere(rule))
      return c.json({
        removals: severe.map(({ subject, rule, at }) => ({ id: subject, category: rule, at })),
      })
    }),
  )
}

function toldOf({ id, claim, leaseEndsAt, record }: ScanTask) {
  const { type, size, sha256, preview } = record
  const of = (part: 'bytes' | 'preview') => `/scans/${id}/${part}?claim=${claim}`
  return {
    id,
    claim,
    leaseEndsAt: new Date(leaseEndsAt).toISOString(),
    type,
    size,
    sha256,
    bytes: of('bytes'),
    // Another picture, if the uploader wished so.
    preview: preview === undefined ? null : { ...preview, bytes: of('preview') },
  }
}

function overdue(c: AppContext): Response {
  return c.json({ mistake: 'This claim is over, or there is nothing to scan any more.' }, 409)
}

/** The JSON object that was sent; an empty one for anything else. */
async function bodyOf(c: AppContext): Promise<Record<string, unknown>> {
  return jsonObject(await readText(c, BODY_MAX_BYTES)) ?? {}
}

/** `null` if there is none, or no known one. */
function verdictIn(given: unknown): Verdict | null {
  try {
    return verdictOf(given)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
