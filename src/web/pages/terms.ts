import { html } from 'hono/html'
import { fill } from '../messages/wording.ts'
import { contactLink, type Page, type PageContext, page } from './page.ts'

/**
 * The terms: ours, or the operator's own plain text. Its paragraphs are parted by empty lines; one that begins with
 * `# ` is a heading.
 */
export function termsPage(ctx: PageContext, { text }: { text?: string } = {}): Page {
  const { terms, frame } = ctx.messages
  return page(ctx, {
    title: `${terms.title} · Pinhole`,
    kind: 'prose',
    style: 'note',
    head: html`<meta name="description" content="${terms.description}">`,
    main: html`<main>
<h1>${terms.title}</h1>
${text === undefined ? ours(ctx) : theirs(text)}
${text === undefined || ctx.operator?.name || ctx.operator?.contact ? operator(ctx) : ''}
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}

function ours({ messages }: PageContext): Page {
  return html`${messages.terms.sections.map(({ heading, paragraphs }, at) =>
    // The second says what may be uploaded.
    section(heading, at === 1 ? 'rules' : null, ...paragraphs),
  )}`
}

function theirs(text: string): Page {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/).map((paragraph) => paragraph.trim())
  return html`${paragraphs
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) =>
      paragraph.startsWith('# ') ? html`<h2>${paragraph.slice(2)}</h2>\n` : html`<p>${paragraph}</p>\n`,
    )}`
}

/** Who runs the service, if they say so; and that they don't, beside our own terms. */
function operator({ messages, operator: told }: PageContext): Page {
  const { operator } = messages.terms
  return section(
    operator.heading,
    'contact',
    told?.name ? fill(operator.named, { name: told.name }) : operator.unnamed,
    told?.contact ? html`${operator.contact}${contactLink(told.contact)}` : operator.noContact,
  )
}

function section(heading: string, id: string | null, ...paragraphs: (string | Page)[]): Page {
  return html`<h2${id === null ? '' : html` id="${id}"`}>${heading}</h2>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}`
}
