/** Atom feed of the admin server (RFC 4287). */
import { html, raw } from 'hono/html'
import type { ActiveAlert } from '../../stores/active-alerts.ts'
import type { AuditEntry } from '../../stores/ledger.ts'
import type { Case } from '../../stores/reports.ts'
import type { Page } from '../pages/page.ts'

export interface FeedFacts {
  /** Address of the admin server. No trailing slash. */
  url: string
  /** Open cases. */
  cases: Case[]
  alerts: ActiveAlert[]
  /** Audit entries of automatic actions. */
  acts: AuditEntry[]
  /** Epoch milliseconds. */
  now: number
}

const TITLES: [prefix: string, title: string][] = [
  ['purges', 'A cache purge is failing'],
  ['tombstones', 'TOMBSTONES_URL is unreachable'],
  ['scanner', 'The scanner is behind'],
  ['flood ', 'A flood of reports'],
  ['disk ', 'A disk is nearly full'],
]

export function feedDocument({ url, cases, alerts, acts, now }: FeedFacts): Page {
  const entries = [
    ...cases.map(({ id, category, reports, openedAt }) => ({
      path: `/cases/${id}`,
      title: `${category}, ${reports} ${reports === 1 ? 'report' : 'reports'}`,
      at: openedAt,
    })),
    ...alerts.flatMap(({ name, since }) => {
      const title = TITLES.find(([prefix]) => name.startsWith(prefix))?.[1]
      return title === undefined ? [] : [{ path: `/#${encodeURIComponent(name)}`, title, at: since }]
    }),
    ...acts.map(({ at, subject, reason }) => ({
      path: `/#act-${at}`,
      title: `${subject}: ${reason}`,
      at: Date.parse(at),
    })),
  ].sort((a, b) => b.at - a.at)
  return html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Pinhole, operator</title>
<id>${url}/feed.xml</id>
<link rel="self" href="${url}/feed.xml"/>
<link href="${url}/queue"/>
<author><name>Pinhole</name></author>
<updated>${new Date(entries[0]?.at ?? now).toISOString()}</updated>
${entries.map(
  ({ path, title, at }) => html`<entry>
<title>${title}</title>
<id>${url}${path}</id>
<link href="${url}${path}"/>
<updated>${new Date(at).toISOString()}</updated>
</entry>
`,
)}</feed>
`
}
