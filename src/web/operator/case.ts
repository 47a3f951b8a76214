/** Case page: the reports, the picture at the requested level of detail, and the decision form. */
import { html } from 'hono/html'
import type { Decision } from '../../stores/decisions.ts'
import type { ImageRecord } from '../../stores/object-store.ts'
import type { Case, Report } from '../../stores/reports.ts'
import { byteSize } from '../messages/wording.ts'
import type { Page } from '../pages/page.ts'
import { decisionButton, pendingSection, reasonFields } from './decision.ts'
import { type AdminContext, adminPage, formToken } from './page.ts'
import { type DetailLevel, mosaicFilter, picture, steps } from './picture.ts'
import { categoryName, dueIn } from './words.ts'

export interface CaseFacts {
  id: string
  /** `null` if the image was not reported. */
  found: Case | null
  /** The earliest reports. */
  reports: Pick<Report, 'category' | 'text' | 'contact' | 'at'>[]
  image: {
    state: 'visible' | 'held' | 'damaged' | 'removed' | 'deleted' | 'withheld' | 'absent'
    record: Omit<ImageRecord, 'keySha256'> | null
  }
  /** Number of other images by this uploader within two days. `null` if it can't be read, for example on a full disk. */
  others: number | null
  /** IDs of cases in the queue with the same bytes. */
  duplicates: string[]
  /** Previous case in the queue. */
  previous: string | null
  next: string | null
  show: DetailLevel
  pending: Decision[]
  /** Epoch milliseconds. */
  now: number
}

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
${queueLinks(facts)}
<dl class="facts">
<dt>Image</dt><dd><code>${id}</code></dd>
<dt>State</dt><dd>${found === null ? 'not reported' : `${found.state}, ${dueIn(found.dueAt, now)}`}</dd>
<dt>Visibility</dt><dd>${STATES[image.state]}</dd>
${image.record === null ? '' : html`<dt>Stored</dt><dd>${recordLine(image.record)}</dd>`}
</dl>
${reportsSection(facts)}
${
  hasPicture
    ? html`<section aria-labelledby="picture"><h2 id="picture">The picture</h2>
${found?.category === 'child-abuse' ? html`<p class="problem">Reported as child abuse. View it only if you must and are allowed to. You can decide by the text alone. Report it to your hotline. Evidence is kept only if you remove it with the rule <code>child-abuse</code>.</p>` : ''}
${steps(path, show)}
${mosaicFilter()}${picture(id, show, `The reported picture, ${show}`)}
${image.record?.preview === undefined ? '' : html`<p>Its preview, as shown in chats and galleries. It comes from the uploader and may show a different picture.</p>${picture(id, show, `The preview, ${show}`, 'preview')}`}
${others === null ? html`<p class="problem">This uploader’s other pictures can’t be loaded right now. The log has the reason.</p>` : ''}
${!others ? '' : html`<p><a href="${path}/others" data-key="u" aria-keyshortcuts="u">More from this uploader: ${others} <kbd>u</kbd></a></p>`}
</section>`
    : ''
}
${image.state === 'removed' ? '' : decisionForm(ctx, facts)}`,
    'prose queue',
  )
}

function queueLinks({ previous, next }: CaseFacts): Page {
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
<blockquote dir="auto"${mayScroll(text) ? html` tabindex="0"` : ''}>${text === '' ? '(text not kept)' : text}</blockquote>
${contact === '' ? '' : html`<details><summary>Reporter</summary><p>${contact}</p></details>`}
</li>`,
  )}</ol>
${found.reports > reports.length ? html`<p>And ${found.reports - reports.length} more.</p>` : ''}
</section>`
}

/** Whether it may not fit into its box on a narrow phone. Safari can't focus what scrolls by itself. */
function mayScroll(text: string): boolean {
  return text.length > 250 || text.split('\n').length > 8
}

function recordLine(record: NonNullable<CaseFacts['image']['record']>): string {
  const { createdAt, type, size, width, height } = record
  return `${createdAt.slice(0, 16)}Z, ${type}, ${width} × ${height}, ${byteSize('en', size)}`
}

function decisionForm(ctx: AdminContext, { id, found, image, others, duplicates }: CaseFacts): Page {
  const isHeld = image.state === 'held' || image.state === 'withheld'
  const isGone = image.state === 'absent' || image.state === 'deleted'
  return html`<section aria-labelledby="decision"><h2 id="decision">The decision</h2>
<form class="decision" method="post" action="/cases/${id}">${formToken(ctx)}
${reasonFields(found !== null)}
${duplicates.length === 0 ? '' : check('same-bytes', `Also the ${duplicates.length} other reported ${duplicates.length === 1 ? 'image' : 'images'} with the same bytes`, true)}
${!others ? '' : check('same-uploader', `Also ${others === 1 ? 'the other picture' : `the ${others} other pictures`} from this uploader`, false)}
${others === null ? '' : check('same-network', 'Also all pictures from its network within two days', false)}
<p class="actions">
${found === null ? '' : decisionButton('keep', 'Keep', 'y')}
${isHeld ? decisionButton('release', 'Release') : isGone ? '' : decisionButton('hold', 'Hold', 'h')}
${
  isGone
    ? ''
    : html`${decisionButton('remove', 'Remove', 'r')}
${decisionButton('remove-and-block', 'Remove and block', 'b')}`
}
</p>
<p class="soft">Decisions can be undone for 10 seconds. Hold and Remove hide the picture immediately. If you enter a rule, it’s shown in place of a removed picture. The reason never is.</p>
</form></section>`
}

function check(name: string, label: string, isChecked: boolean): Page {
  return html`<p><label class="confirm"><input type="checkbox" name="${name}" value="on"${isChecked ? html` checked` : ''}><span>${label}</span></label></p>`
}
