import type { PageFacts } from '../../pages/page-facts.ts'

/**
 * What the server wrote into the page for its script. Scripts of pages without a facts block import this too: then it is
 * `null`.
 */
export const pageFacts: PageFacts = JSON.parse(document.getElementById('facts')?.textContent ?? 'null')

/** For dates and times: the person's own country, where it speaks the page's language. */
export const locale = ownLocale()

function ownLocale(): string {
  const lang = pageFacts?.lang ?? 'en'
  try {
    // Chromium without a desktop says `en-US@posix`, which no formatter takes.
    const [own] = Intl.getCanonicalLocales(navigator.language)
    return own?.startsWith(lang) ? own : lang
  } catch {
    return lang
  }
}
