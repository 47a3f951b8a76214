/** What a page tells its script: words in the person's language, and the service's limits. */
import { html, raw } from 'hono/html'
import type { RefusalCode } from '../../errors.ts'
import type { Messages } from '../messages/english.ts'
import type { Page, PageContext } from './page.ts'

/** On every page with a script. */
export type PageFacts = ReturnType<typeof common>
export type HomeFacts = ReturnType<typeof homeFacts>
export type ViewerFacts = ReturnType<typeof viewerFacts>
export type DeletionFacts = ReturnType<typeof deletionFacts>
export type GalleryFacts = ReturnType<typeof galleryFacts>
export type PassFacts = ReturnType<typeof passFacts>

/** A data block: browsers neither run it nor count it as inline script. */
export function factsBlock(facts: PageFacts): Page {
  // `<` is the only character that could end the element early.
  const json = JSON.stringify(facts).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="facts">${raw(json)}</script>`
}

export function homeFacts(ctx: PageContext) {
  const { messages, maxUploadBytes, stripsMetadata, convertsHeic } = ctx
  const { noPreviewInWhatsApp, noPreviewAtAll } = messages.result
  return {
    ...common(ctx),
    /** Unit: bytes. */
    maxUploadBytes,
    stripsMetadata,
    convertsHeic,
    /** What a card says of a refusal, by its code. */
    refusals: refusalsOf(messages, REFUSALS),
    words: messages.live,
    previews: { noPreviewInWhatsApp, noPreviewAtAll },
    editor: messages.editor,
  }
}

/** Refusals of an upload or a deletion that the page's script may meet. */
const REFUSALS: RefusalCode[] = [
  'file-too-large',
  'damaged-image',
  'blocked-image',
  'cross-site',
  'challenge-required',
  'network-quota-exceeded',
  'too-many-refusals',
  'uploads-paused',
  'capacity-reached',
  'storage-full',
  'busy',
  'unavailable',
  'too-slow',
  'held',
  'removed',
]

/** Those of a deletion alone. */
const DELETION_REFUSALS: RefusalCode[] = ['cross-site', 'storage-full', 'busy', 'unavailable']

/** What happened, then what to do: a card has no heading for the one. */
function refusalsOf({ errors: { titles, details } }: Messages, codes: RefusalCode[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, `${titles[code]} ${details[code] ?? ''}`.trimEnd()]))
}

export function viewerFacts(ctx: PageContext) {
  const { actualSize, fit, imageCopied, imageNotCopied } = ctx.messages.viewer
  return { ...deletionFacts(ctx), words: { actualSize, fit, imageCopied, imageNotCopied } }
}

/** On pages that can delete one picture. */
export function deletionFacts(ctx: PageContext) {
  const { working, offline, doneTitle } = ctx.messages.remove
  const failed = ctx.messages.live.deleteFailed
  const refusals = refusalsOf(ctx.messages, DELETION_REFUSALS)
  return { ...common(ctx), remove: { working, failed, offline, doneTitle, refusals } }
}

export function galleryFacts(ctx: PageContext) {
  const { gallery, upload } = ctx.messages
  return { ...common(ctx), words: { ...gallery, retry: upload.retry } }
}

export function passFacts(ctx: PageContext) {
  const { failed, needsHttps } = ctx.messages.pass
  return { ...common(ctx), words: { failed, needsHttps } }
}

function common({ messages, baseUrl }: PageContext) {
  const { copied, notCopied, notCopiedTouch } = messages.viewer
  return { lang: messages.lang, baseUrl, copying: { copied, notCopied, notCopiedTouch } }
}
