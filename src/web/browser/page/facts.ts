import { byteSize, fill, plural } from '../../messages/wording.ts'
import type { PageFacts } from '../../pages/page-facts.ts'

/** What the server wrote into the page for us. */
export const facts: PageFacts = JSON.parse(document.getElementById('facts')!.textContent)

export const words = facts.words

export const inWords = {
  bytes: (bytes: number) => byteSize(facts.lang, bytes),
  count: (forms: { one: string; other: string }, count: number) => plural(facts.lang, forms, count),
  fill,
}
