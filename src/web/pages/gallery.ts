import { html, raw } from 'hono/html'
import { previewPath } from '../../protocol.ts'
import { notice, type Page, type PageContext, page } from './page.ts'
import { factsBlock, galleryFacts } from './page-facts.ts'

/**
 * Requests the first picture before styles and scripts load, and hands it to the page's script. The only inline script: the ID
 * is in the fragment, so the server can't emit a preload link.
 */
const PRELOAD_SCRIPT = `{const [,id]=/^#([0-9A-Za-z]{11})(?![0-9A-Za-z])/.exec(location.hash)??[];if(id)globalThis.begun=Object.assign(new Image,{fetchPriority:'high',src:'${previewPath('')}'+id})}`

/** Base64 SHA-256 of the inline script, for the Content Security Policy. */
export const GALLERY_SCRIPT_DIGEST = 'ytZLhBAKRSE3K8f/SrFJopujAaWVRyS6Wqgm5H2u1zE='

/** Gallery page. The pictures are listed in the fragment, so the HTML is the same for every gallery. */
export function galleryPage(ctx: PageContext): Page {
  const { messages } = ctx
  const { gallery, upload, viewer } = messages
  return page(ctx, {
    title: `${gallery.title} · Pinhole`,
    kind: 'gallery',
    script: 'gallery',
    style: 'gallery',
    first: html`<script>${raw(PRELOAD_SCRIPT)}</script>`,
    head: html`<meta name="robots" content="noindex">
<meta property="og:site_name" content="Pinhole">
<meta property="og:title" content="${gallery.title}">`,
    main: html`<main>
<header class="gallery-head">
<h1>${gallery.title}</h1>
<p class="soft" id="count">&nbsp;</p>
<div class="actions" id="gallery-actions">
<button type="button" class="button quiet" id="copy-gallery">${viewer.copyLink}</button>
<button type="button" class="button quiet" id="download-gallery">${gallery.downloadAll}</button>
</div>
</header>
<noscript><p class="lead">${gallery.needsScript}</p></noscript>
<div id="empty" hidden><p class="lead">${gallery.empty}</p><p class="soft">${gallery.emptyDetail}</p></div>
<ul class="tiles" id="tiles" role="list"></ul>
<p><a class="back" href="/">${messages.frame.back}</a></p>
${notice(messages)}
</main>
<dialog class="lightbox" id="lightbox" aria-labelledby="lightbox-title">
<header>
<h2 id="lightbox-title" aria-live="polite"></h2>
<button type="button" class="button quiet" id="close">${upload.close}</button>
</header>
<div class="lightbox-picture"><img id="shown" alt=""><p id="shown-problem" role="status"></p></div>
<div class="actions">
<button type="button" class="button quiet" id="previous">${gallery.previous}</button>
<button type="button" class="button quiet" id="next">${gallery.next}</button>
<a class="button" id="download" download>${viewer.download}</a>
<a class="button quiet" id="to-page">${gallery.page}</a>
</div>
</dialog>
${factsBlock(galleryFacts(ctx))}`,
  })
}
