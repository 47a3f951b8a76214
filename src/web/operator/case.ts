/** One case: what was reported, the picture as far as it is asked for, and the decision. */
import { html } from 'hono/html'
import { byteSize } from '../messages/wording.ts'
import type { Page } from '../pages/page.ts'
import type { CaseFacts } from './case-facts.ts'
import { decisionForm } from './decision.ts'
import { type AdminContext, adminPage } from './page.ts'
import { pendingSection } from './pending.ts'
import { mosaicFilter, picture, steps } from './picture.ts'
import { categoryName, dueIn } from './words.ts'

const STATES: Record<CaseFacts['image']['state'], string> = {
  visible: 'Public',
  held: 'Held: not public',
  damaged: 'Damaged: can’t be shown',
  removed: 'Removed for good',
  deleted: 'Deleted by the uploader',
  withheld: 'Deleted by the uploader. Its bytes can’t be uploaded again until you decide',
  absent: 'No such image',
}

export function casePage(ctx: AdminContext, facts: CaseFacts): Page {
  const { id, found, image, others, show, pending, now } = facts
  const path = `/cases/${id}`
  const hasPicture = image.state === 'visible' || image.state === 'held'
  return adminPage(
    ctx,
    found === null ? 'An image' : categoryName(found.category),
    html`${pendingSection(ctx, pending, now)}
${walk(facts)}
<dl class="facts">
<dt>Image</dt><dd><code>${id}</code></dd>
<dt>State</dt><dd>${found === null ? 'not reported' : `${found.state}, ${dueIn(found.dueAt, now)}`}</dd>
<dt>Visibility</dt><dd>${STATES[image.state]}</dd>
${image.record === null ? '' : html`<dt>Stored</dt><dd>${lineOf(image.record)}</dd>`}
</dl>
${reportsSection(facts)}
${
  hasPicture
    ? html`<section aria-labelledby="picture"><h2 id="picture">The picture</h2>
${found?.category === 'child-abuse' ? html`<p class="problem">Reported as child abuse. Look only if you must and may: hold or remove it by the text, and report it to your hotline.</p>` : ''}
${steps(path, show)}
${mosaicFilter()}${picture(id, show, `The reported picture, ${show}`)}
${image.record?.preview === undefined ? '' : html`<p>Its preview, which chats and galleries show. The uploader made it: it may be another picture.</p>${picture(id, show, `The preview, ${show}`, 'preview')}`}
${others === null ? html`<p class="problem">The uploader’s others can’t be read now: the log says why.</p>` : ''}
${!others ? '' : html`<p><a href="${path}/others" data-key="u" aria-keyshortcuts="u">The uploader’s others: ${others} <kbd>u</kbd></a></p>`}
</section>`
    : ''
}
${image.state === 'removed' ? '' : decisionForm(ctx, facts)}`,
    { kind: 'prose queue' },
  )
}

function walk({ previous, next }: CaseFacts): Page {
  const link = (id: string | null, key: string, label: string) =>
    id === null
      ? ''
      : html`<li><a href="/cases/${id}" data-key="${key}" aria-keyshortcuts="${key}">${label} <kbd>${key}</kbd></a></li>`
  return html`<nav class="steps" aria-label="Queue"><ol><li><a href="/queue">All cases</a></li>${link(previous, 'k', 'Previous')}${link(next, 'j', 'Next')}</ol></nav>`
}

function reportsSection({ found, reports }: CaseFacts): Page | '' {
  if (found === null) return ''
  return html`<section aria-labelledby="reports"><h2 id="reports">What was reported</h2>
<ol class="reports">${reports.map(
    ({ category, text, contact, at }) => html`<li>
<p><time>${new Date(at).toISOString().slice(0, 16)}Z</time> ${categoryName(category)}</p>
<blockquote>${text === '' ? 'forgotten' : text}</blockquote>
${contact === '' ? '' : html`<details><summary>Who reported it</summary><p>${contact}</p></details>`}
</li>`,
  )}</ol>
${found.reports > reports.length ? html`<p>And ${found.reports - reports.length} more.</p>` : ''}
</section>`
}

function lineOf({ createdAt, type, size, width, height }: NonNullable<CaseFacts['image']['record']>): string {
  return `${createdAt.slice(0, 16)}Z, ${type}, ${width} × ${height}, ${byteSize('en', size)}`
}
