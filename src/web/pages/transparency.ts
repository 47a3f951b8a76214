/** Transparency report: number of reported images by month, category and decision. */
import { html } from 'hono/html'
import type { CaseTotal } from '../../stores/reports.ts'
import { type Page, type PageContext, page } from './page.ts'

export function transparencyPage(ctx: PageContext, totals: CaseTotal[]): Page {
  const { transparency, report, frame } = ctx.messages
  const months = [...Map.groupBy(totals, ({ month }) => month)].reverse()
  // One for all months: creating it takes longer than a month's table.
  const format = new Intl.DateTimeFormat(ctx.locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return page(ctx, {
    title: `${transparency.title} · Pinhole`,
    kind: 'prose',
    style: 'report',
    main: html`<main>
<h1>${transparency.title}</h1>
<p>${transparency.lead}</p>
${months.length === 0 ? html`<p>${transparency.none}</p>` : months.map(([month, rows]) => table(month, rows))}
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })

  /** `month`: e.g. `2026-11`. */
  function table(month: string, rowsOfMonth: CaseTotal[]): Page {
    const states = ['open', 'held', 'kept', 'removed'] as const
    const categories = [...Map.groupBy(rowsOfMonth, ({ category }) => category)]
    const count = (rows: CaseTotal[], state: CaseTotal['state']) =>
      rows.find((row) => row.state === state)?.count ?? 0
    return html`<h2>${format.format(new Date(`${month}-01`))}</h2>
<div class="wide"><table>
<thead><tr><th scope="col">${report.reason}</th>${states.map((state) => html`<th scope="col">${transparency.states[state]}</th>`)}</tr></thead>
<tbody>
${categories.map(
  ([
    category,
    rows,
  ]) => html`<tr><th scope="row">${report.categories[category as keyof typeof report.categories] ?? category}</th>${states.map((state) => html`<td>${count(rows, state)}</td>`)}</tr>
`,
)}</tbody>
</table></div>
`
  }
}
