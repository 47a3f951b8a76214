import { byteSize, fill, limitSize, plural } from '../../messages/wording.ts'
import type { HomeFacts } from '../../pages/page-facts.ts'
import { pageFacts } from '../page/facts.ts'

export const facts = pageFacts as HomeFacts

export const words = facts.words

/** For dates and times: the person's own country, where it speaks the page's language. */
export const locale = ownLocale()

export const inWords = {
  bytes: (bytes: number) => byteSize(facts.lang, bytes),
  limit: () => limitSize(facts.lang, facts.maxUploadBytes),
  count: (forms: { one: string; other: string }, count: number) => plural(facts.lang, forms, count),
  fill,
}

function ownLocale(): string {
  try {
    // Chromium without a desktop says `en-US@posix`, which no formatter takes.
    const [own] = Intl.getCanonicalLocales(navigator.language)
    return own?.startsWith(facts.lang) ? own : facts.lang
  } catch {
    return facts.lang
  }
}
