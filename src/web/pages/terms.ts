import { html } from 'hono/html'
import { fill } from '../messages/wording.ts'
import { contactLink, type Page, type PageContext, page } from './page.ts'

/**
 * Terms of service: the built-in ones, or the operator's plain text. Empty lines separate its paragraphs; a leading `# ` marks
 * a heading.
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
${text === undefined ? builtInTerms(ctx) : customTerms(text)}
${text === undefined || ctx.operator?.name || ctx.operator?.contact ? operatorSection(ctx) : ''}
<p><a class="back" href="/">${frame.back}</a></p>
</main>`,
  })
}

function builtInTerms({ messages: { terms }, linksUploads }: PageContext): Page {
  const links = linksUploads ? terms.links : ''
  return html`${terms.sections.map(({ heading, paragraphs }, at) =>
    // The second section says what may be uploaded.
    section(heading, at === 1 ? 'rules' : null, ...paragraphs.map((paragraph) => fill(paragraph, { links }))),
  )}`
}

function customTerms(text: string): Page {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/).map((paragraph) => paragraph.trim())
  return html`${paragraphs
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) =>
      paragraph.startsWith('# ') ? html`<h2>${paragraph.slice(2)}</h2>\n` : html`<p>${paragraph}</p>\n`,
    )}`
}

/** Name and contact of the operator, or a note that they are missing. */
function operatorSection({ messages, operator: details }: PageContext): Page {
  const { operator } = messages.terms
  return section(
    operator.heading,
    'contact',
    details?.name ? fill(operator.named, { name: details.name }) : operator.unnamed,
    details?.contact ? html`${operator.contact}${contactLink(details.contact)}` : operator.noContact,
  )
}

function section(heading: string, id: string | null, ...paragraphs: (string | Page)[]): Page {
  return html`<h2${id === null ? '' : html` id="${id}"`}>${heading}</h2>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}`
}
