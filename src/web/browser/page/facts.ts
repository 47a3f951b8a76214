import type { PageFacts } from '../../pages/page-facts.ts'

/**
 * Data that the server embedded in the page. `null` on pages without a facts block, whose scripts import this module, too.
 */
export const pageFacts: PageFacts = JSON.parse(document.getElementById('facts')?.textContent ?? 'null')

/** Locale for dates and times: the browser's, if it is a variety of the page's language. */
export const locale = ownLocale()

function ownLocale(): string {
  const lang = pageFacts?.lang ?? 'en'
  try {
    // Headless Chromium may report `en-US@posix`, which `Intl` rejects.
    const [own] = Intl.getCanonicalLocales(navigator.language)
    return own?.startsWith(lang) ? own : lang
  } catch {
    return lang
  }
}
