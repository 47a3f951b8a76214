import { byteSize, fill, plural } from '../../messages/wording.ts'
import type { HomeFacts } from '../../pages/page-facts.ts'
import { pageFacts } from '../page/facts.ts'

export const facts = pageFacts as HomeFacts

export const words = facts.words

/** For dates and times: the person's own country, where it speaks the page's language. */
export const locale = navigator.language.startsWith(facts.lang) ? navigator.language : facts.lang

export const inWords = {
  bytes: (bytes: number) => byteSize(facts.lang, bytes),
  count: (forms: { one: string; other: string }, count: number) => plural(facts.lang, forms, count),
  fill,
}
