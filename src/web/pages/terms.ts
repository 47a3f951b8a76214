import { html } from 'hono/html'
import { type Page, type PageContext, page } from './page.ts'

/** The terms: ours, or the operator's own plain text, whose paragraphs are parted by empty lines. */
export function termsPage(ctx: PageContext, { text }: { text?: string } = {}): Page {
  const { terms, back } = ctx.messages
  const paragraphs = (text ?? terms.text).split(/\r?\n[ \t]*\r?\n/).filter((paragraph) => paragraph.trim())
  return page(ctx, {
    title: `${terms.title} · Pinhole`,
    kind: 'prose',
    head: html`<meta name="description" content="${terms.description}">`,
    main: html`<main>
<h1>${terms.title}</h1>
${paragraphs.map((paragraph) => html`<p>${paragraph.trim()}</p>\n`)}
<p><a class="back" href="/">${back}</a></p>
</main>`,
  })
}
