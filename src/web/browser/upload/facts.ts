import { byteSize, fill, limitSize, plural, type Values } from '../../messages/wording.ts'
import type { HomeFacts } from '../../pages/page-facts.ts'
import { pageFacts } from '../page/facts.ts'

export { locale } from '../page/facts.ts'

export const facts = pageFacts as HomeFacts

export const words = facts.words

export const inWords = {
  bytes: (bytes: number) => byteSize(facts.lang, bytes),
  limit: () => limitSize(facts.lang, facts.maxUploadBytes),
  count: (forms: { one: string; other: string }, count: number) => plural(facts.lang, forms, count),
  /** Cuts long names in the middle: a notice with one would cover half a phone. */
  fill: (text: string, values: Values) =>
    fill(text, { ...values, name: `${values.name}`.replace(/^(.{40}).{8,}(.{16})$/su, '$1…$2') }),
}
