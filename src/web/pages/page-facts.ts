/** Data embedded in pages for their scripts: translated messages and the service's limits. */
import { html, raw } from 'hono/html'
import type { RefusalCode } from '../../errors.ts'
import type { Messages } from '../messages/english.ts'
import type { Page, PageContext } from './page.ts'

/** Common to all pages with a script. */
export type PageFacts = ReturnType<typeof common>
export type HomeFacts = ReturnType<typeof homeFacts>
export type ViewerFacts = ReturnType<typeof viewerFacts>
export type DeletionFacts = ReturnType<typeof deletionFacts>
export type GalleryFacts = ReturnType<typeof galleryFacts>
export type PassFacts = ReturnType<typeof passFacts>

/** JSON data block, which is not subject to the policy for inline scripts. */
export function factsBlock(facts: PageFacts): Page {
  // Escaping `<` is enough to keep the data from closing the element.
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
    /** Messages for refusals, by code. */
    refusals: refusalsOf(messages, REFUSALS),
    words: { ...messages.live, copy: messages.viewer.copy, copyAll: messages.upload.copyAll },
    previews: { noPreviewInWhatsApp, noPreviewAtAll },
    editor: messages.editor,
  }
}

/** Refusals of uploads and deletions that the script may show. */
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

/** Refusals of deletions. */
const DELETION_REFUSALS: RefusalCode[] = ['storage-full', 'busy', 'unavailable']

/** Title and detail in one text, because cards have no heading for errors. */
function refusalsOf({ errors: { titles, details } }: Messages, codes: RefusalCode[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, `${titles[code]} ${details[code] ?? ''}`.trimEnd()]))
}

export function viewerFacts(ctx: PageContext) {
  const { actualSize, fit, imageCopied, imageNotCopied } = ctx.messages.viewer
  return { ...deletionFacts(ctx), words: { actualSize, fit, imageCopied, imageNotCopied } }
}

/** For pages that can delete a picture. */
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
