/** What a page tells its script: words in the person's language, and the service's limits. */
import { html, raw } from 'hono/html'
import type { RefusalCode } from '../../errors.ts'
import type { Messages } from '../messages/english.ts'
import type { PreviewWords } from '../preview-limits.ts'
import type { Page, PageContext } from './page.ts'

/** On every page with a script. */
export interface PageFacts {
  lang: string
  baseUrl: string
  copying: Pick<Messages['viewer'], 'copied' | 'notCopied' | 'notCopiedTouch'>
}

export interface HomeFacts extends PageFacts {
  /** Unit: bytes. */
  maxUploadBytes: number
  stripsMetadata: boolean
  convertsHeic: boolean
  /** What a card says of a refusal, by its code. */
  refusals: Record<string, string>
  words: Messages['live']
  previews: PreviewWords
  editor: Messages['editor']
}

/** On pages that can delete one picture. */
export interface DeletionFacts extends PageFacts {
  remove: Pick<Messages['remove'], 'working' | 'offline' | 'doneTitle'> & {
    failed: string
    refusals: Record<string, string>
  }
}

export interface ViewerFacts extends DeletionFacts {
  words: Pick<Messages['viewer'], 'actualSize' | 'fit' | 'imageCopied' | 'imageNotCopied'>
}

export interface GalleryFacts extends PageFacts {
  words: Messages['gallery'] & { retry: string }
}

export interface PassFacts extends PageFacts {
  words: Pick<Messages['pass'], 'failed' | 'needsHttps'>
}

export function homeFacts(ctx: PageContext): Page {
  const { messages, maxUploadBytes, stripsMetadata, convertsHeic } = ctx
  const { noPreviewInWhatsApp, noPreviewAtAll } = messages.result
  return block<HomeFacts>({
    ...common(ctx),
    maxUploadBytes,
    stripsMetadata,
    convertsHeic,
    refusals: refusalsOf(messages, REFUSALS),
    words: messages.live,
    previews: { noPreviewInWhatsApp, noPreviewAtAll },
    editor: messages.editor,
  })
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

export function viewerFacts(ctx: PageContext): Page {
  const { actualSize, fit, imageCopied, imageNotCopied } = ctx.messages.viewer
  return block<ViewerFacts>({
    ...common(ctx),
    words: { actualSize, fit, imageCopied, imageNotCopied },
    ...deletion(ctx),
  })
}

export function deletionFacts(ctx: PageContext): Page {
  return block<DeletionFacts>({ ...common(ctx), ...deletion(ctx) })
}

function deletion({ messages }: PageContext): Pick<DeletionFacts, 'remove'> {
  const { working, offline, doneTitle } = messages.remove
  const failed = messages.live.deleteFailed
  const refusals = refusalsOf(messages, DELETION_REFUSALS)
  return { remove: { working, failed, offline, doneTitle, refusals } }
}

export function galleryFacts(ctx: PageContext): Page {
  const { gallery, upload } = ctx.messages
  return block<GalleryFacts>({ ...common(ctx), words: { ...gallery, retry: upload.retry } })
}

export function passFacts(ctx: PageContext): Page {
  const { failed, needsHttps } = ctx.messages.pass
  return block<PassFacts>({ ...common(ctx), words: { failed, needsHttps } })
}

function common({ messages, baseUrl }: PageContext): PageFacts {
  const { copied, notCopied, notCopiedTouch } = messages.viewer
  return { lang: messages.lang, baseUrl, copying: { copied, notCopied, notCopiedTouch } }
}

/** A data block: browsers neither run it nor count it as inline script. */
function block<Facts extends PageFacts>(facts: Facts): Page {
  // `<` is the only character that could end the element early.
  const json = JSON.stringify(facts).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="facts">${raw(json)}</script>`
}
