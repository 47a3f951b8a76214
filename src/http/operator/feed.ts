/** GET /feed.xml: pending cases and alerts for a feed reader (RFC 4287). Contains only categories, counts and links. */
import { feedDocument } from '../../web/operator/feed.ts'
import type { AppContext } from '../context.ts'
import type { Access, OperatorParts } from './access.ts'

const MAX_ENTRIES = 100

/** Accepts Basic (RFC 7617), which feed readers support: any user name, with the program token as the password. */
export async function sendFeed(c: AppContext, parts: OperatorParts, access: Access): Promise<Response> {
  if (!(await isAuthorized(c, parts, access))) {
    return c.body(null, 401, { 'WWW-Authenticate': 'Basic realm="Pinhole, operator", charset="UTF-8"' })
  }
  const { ledger, now, url } = parts
  const [cases, alerts, acts] = await Promise.all([
    ledger.cases(['open'], MAX_ENTRIES),
    ledger.activeAlerts(),
    ledger.auditLog(MAX_ENTRIES),
  ])
  const automatic = acts.filter(({ who }) => who === 'pinhole')
  const feed = feedDocument({ url, cases, alerts, acts: automatic, now: now() })
  return c.body(`${await feed}`, 200, { 'Content-Type': 'application/atom+xml; charset=utf-8' })
}

async function isAuthorized(c: AppContext, { sessions }: OperatorParts, access: Access): Promise<boolean> {
  const [, credentials] = /^Basic +(\S+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  if (credentials !== undefined) return sessions.program(passwordIn(credentials)) !== null
  return (await access.principalOf(c)) !== null
}

function passwordIn(credentials: string): string {
  try {
    return atob(credentials).replace(/^[^:]*:/, '')
  } catch {
    return ''
  }
}
