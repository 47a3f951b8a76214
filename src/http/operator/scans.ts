/**
 * API for external scanners, authenticated by their own token: claim images, fetch them, report verdicts, and list severe
 * removals, whose near-duplicates a scanner may block. A scanner can read and decide only images that it has claimed.
 */
import type { Hono } from 'hono'
import { parseJsonObject } from '../../json.ts'
import { type Verdict, verdictOf } from '../../scan/scanner.ts'
import { isSevere } from '../../service/moderation/scan-gate.ts'
import type { ScanTask } from '../../service/moderation/scanning.ts'
import { readText } from '../body.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { bearerOf } from '../headers/common.ts'
import type { OperatorParts } from './access.ts'
import { sendImageBytes } from './image-bytes.ts'

const BODY_MAX_BYTES = 16 * 1024
const MAX_CLAIMED = 64

/** Audit log entries searched per request, and the rest of those of the same millisecond. */
const MAX_SEARCHED_ENTRIES = 10_000

const SCAN_PATH = '/scans/:id{[0-9A-Za-z]{11}}'

export function addScans(app: Hono<AppEnv>, { scanning, sessions, ledger, objects }: OperatorParts): void {
  const forScanners = (handle: (c: AppContext) => Promise<Response>) => async (c: AppContext) => {
    const token = bearerOf(c.req.header('Authorization'))
    if (token !== undefined && sessions.isScanner(token)) return handle(c)
    return c.json({ mistake: 'Authenticate with SCANNER_TOKEN or OPERATOR_TOKEN.' }, 401)
  }

  const sendClaimed = (part: 'all' | 'preview') =>
    forScanners(async (c) => {
      const claim = Number(c.req.query('claim'))
      const isClaimed = Number.isSafeInteger(claim) && (await scanning.isClaimed(c.req.param('id')!, claim))
      return isClaimed ? sendImageBytes(c, objects, part) : claimExpired(c)
    })

  // `{"limit": 8}` → `{"scans": […]}`
  app.post(
    '/scans/claim',
    forScanners(async (c) => {
      const { limit = 1 } = await bodyOf(c)
      if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_CLAIMED) {
        return c.json({ mistake: `limit must be an integer from 1 to ${MAX_CLAIMED}.` }, 400)
      }
      return c.json({ scans: (await scanning.claim(limit)).map(taskJson) })
    }),
  )
  // `{"claim": 123, "verdict": "clean"}`: see `verdictOf`.
  app.post(
    SCAN_PATH,
    forScanners(async (c) => {
      const body = await bodyOf(c)
      const verdict = parseVerdict(body)
      if (verdict === null || !Number.isSafeInteger(body.claim)) {
        return c.json(
          {
            mistake: 'Send {"claim": …, "verdict": …}, where verdict is "clean", "flag", "hold" or "block".',
          },
          400,
        )
      }
      const isDone = await scanning.decide(c.req.param('id')!, body.claim as number, verdict)
      return isDone ? c.json({ done: true }) : claimExpired(c)
    }),
  )
  app.get(`${SCAN_PATH}/bytes`, sendClaimed('all'))
  app.get(`${SCAN_PATH}/preview`, sendClaimed('preview'))
  // Images removed for a severe category since a time, oldest first. `until`: where the next request continues.
  app.get(
    '/scans/removals',
    forScanners(async (c) => {
      const since = c.req.query('since')
      if (since !== undefined && Number.isNaN(Date.parse(since)))
        return c.json({ mistake: 'since must be a time such as 2026-07-31T12:00:00Z.' }, 400)
      const removals = []
      let until = since ?? null
      let searched = 0
      for await (const { act, subject, rule, at } of ledger.everyAuditEntry(
        since === undefined ? undefined : new Date(since),
      )) {
        if (searched++ >= MAX_SEARCHED_ENTRIES && at !== until) break
        if (act === 'remove' && isSevere(rule)) removals.push({ id: subject, category: rule, at })
        until = at
      }
      return c.json({ removals, until })
    }),
  )
}

function taskJson({ id, claim, leaseEndsAt, record }: ScanTask) {
  const { type, size, sha256, preview } = record
  const pathOf = (part: 'bytes' | 'preview') => `/scans/${id}/${part}?claim=${claim}`
  return {
    id,
    claim,
    leaseEndsAt: new Date(leaseEndsAt).toISOString(),
    type,
    size,
    sha256,
    bytes: pathOf('bytes'),
    // To be scanned too: the uploader can supply a preview that shows something else.
    preview: preview === undefined ? null : { ...preview, bytes: pathOf('preview') },
  }
}

function claimExpired(c: AppContext): Response {
  return c.json({ mistake: 'This claim has expired, or the image no longer needs a scan.' }, 409)
}

/** The body as a JSON object; empty when it is anything else. */
async function bodyOf(c: AppContext): Promise<Record<string, unknown>> {
  return parseJsonObject(await readText(c, BODY_MAX_BYTES)) ?? {}
}

/** `null` when the verdict is missing or unknown. */
function parseVerdict(body: unknown): Verdict | null {
  try {
    return verdictOf(body)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
