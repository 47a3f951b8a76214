/** The queue of open or held cases, by severity and due time. Text only. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { Case } from '../../stores/reports.ts'
import type { Page } from '../pages/page.ts'
import { pendingSection } from './decision.ts'
import { type AdminContext, adminPage } from './page.ts'
import { categoryName, dueIn } from './words.ts'

export interface QueueFacts {
  cases: Case[]
  /** SHA-256 by ID. `null` if the image doesn't exist. */
  digests: ReadonlyMap<string, string | null>
  /** Shows held instead of open cases. */
  isHeld: boolean
  pending: Decision[]
  /** Epoch milliseconds. */
  now: number
}

export function queuePage(ctx: AdminContext, { cases, digests, isHeld, pending, now }: QueueFacts): Page {
  // Group cases with the same bytes under the first one, so that one decision covers them all.
  const clusters = [...Map.groupBy(cases, ({ id }) => digests.get(id) ?? id).values()]
  const tab = (href: string, label: string, isHere: boolean) =>
    html`<a href="${href}"${isHere ? html` aria-current="page"` : ''}>${label}</a>`
  return adminPage(
    ctx,
    isHeld ? 'Held images' : 'Reported images',
    html`${pendingSection(ctx, pending, now)}
<nav class="steps" aria-label="Cases"><ol><li>${tab('/queue', 'Open', !isHeld)}</li><li>${tab('/queue?state=held', 'Held', isHeld)}</li></ol></nav>
${
  clusters.length === 0
    ? html`<p>${isHeld ? 'Nothing is held for a report.' : 'Nothing is waiting for a decision.'}</p>`
    : html`<ol class="cases">${clusters.map((cluster, i) => item(cluster, digests, now, i === 0))}</ol>`
}`,
    'prose queue',
  )
}

function item(cluster: Case[], digests: QueueFacts['digests'], now: number, isFirst: boolean): Page {
  const { id, category, severity, dueAt, isCrowded, isImageGone } = cluster[0]!
  const reports = cluster.reduce((sum, each) => sum + each.reports, 0)
  const facts = [
    `${reports} ${reports === 1 ? 'report' : 'reports'}`,
    dueIn(dueAt, now),
    ...(cluster.length > 1 ? [`${cluster.length} images of the same bytes`] : []),
    ...(cluster.every(({ isCrowded }) => isCrowded) ? ['only from crowded networks'] : []),
    ...(digests.get(id) === null ? ['not here'] : []),
  ]
  return html`<li${severity <= 1 && !isCrowded && !isImageGone ? html` class="urgent"` : ''}><a href="/cases/${id}"${isFirst ? html` data-key="j" aria-keyshortcuts="j"` : ''}>${categoryName(category)}${isFirst ? html` <kbd>j</kbd>` : ''}</a>
<span>${facts.join(', ')} <code>${id}</code></span></li>`
}
