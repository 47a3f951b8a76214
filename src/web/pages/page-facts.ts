/** What a page tells its script: words in the person's language, and the service's limits. */
import { html, raw } from 'hono/html'
import type { Messages } from '../messages/messages.ts'
import type { Page, PageContext } from './page.ts'

export interface PageFacts {
  lang: string
  baseUrl: string
  /** Unit: bytes. */
  maxUploadBytes: number
  stripsMetadata: boolean
  copied: string
  /** By refusal code. */
  refusals: Record<string, string>
  words: Messages['live']
}

/** A data block: browsers neither run it nor count it as inline script. */
export function pageFacts({ messages, baseUrl, maxUploadBytes, stripsMetadata = true }: PageContext): Page {
  const facts: PageFacts = {
    lang: messages.lang,
    baseUrl,
    maxUploadBytes,
    stripsMetadata,
    copied: messages.viewer.copied,
    refusals: messages.errors.details,
    words: messages.live,
  }
  // `<` is the only character that could end the element early.
  const json = JSON.stringify(facts).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="facts">${raw(json)}</script>`
}
