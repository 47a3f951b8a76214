/** GET /feed.xml: what wants a decision, for a feed reader (RFC 4287). Categories, numbers and links. */
import { feedDocument } from '../../web/operator/feed.ts'
import type { AppContext } from '../context.ts'
import type { Access, OperatorParts } from './access.ts'

const SHOWN = 100

/** Feed readers know Basic (RFC 7617): any name, and the token of programs. */
export async function sendFeed(c: AppContext, parts: OperatorParts, access: Access): Promise<Response> {
  if (!(await mayRead(c, parts, access))) {
    return c.body(null, 401, { 'WWW-Authenticate': 'Basic realm="Pinhole, operator", charset="UTF-8"' })
  }
  const { ledger, now, url } = parts
  const [cases, alerts, acts] = await Promise.all([
    ledger.cases(['open'], SHOWN),
    ledger.activeAlerts(),
    ledger.auditLog(SHOWN),
  ])
  const own = acts.filter(({ who }) => who === 'pinhole')
  const feed = feedDocument({ url, cases, alerts, acts: own, now: now() })
  return c.body(`${await feed}`, 200, { 'Content-Type': 'application/atom+xml; charset=utf-8' })
}

async function mayRead(c: AppContext, { sessions }: OperatorParts, access: Access): Promise<boolean> {
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
