/** Which language a person reads, and how numbers are written in it. */
import { english } from './english/english.ts'
import { french } from './french/french.ts'
import { german } from './german/german.ts'
import type { Messages } from './messages.ts'

export const LANGUAGES: Messages[] = [english, german, french]

/** The best of ours for an `Accept-Language` header (RFC 4647, lookup on the primary tag); English if none fits. */
export function pickMessages(acceptLanguage: string | undefined): Messages {
  for (const tag of wantedTags(acceptLanguage)) {
    const found = LANGUAGES.find(({ lang }) => lang === primaryOf(tag))
    if (found) return found
  }
  return english
}

/** For dates and numbers: the person's own variety of `lang`, such as en-GB, where the header names one. */
export function pickLocale(acceptLanguage: string | undefined, lang: string): string {
  const own = wantedTags(acceptLanguage).find((tag) => primaryOf(tag) === lang)
  try {
    return Intl.getCanonicalLocales(own)[0] ?? lang
  } catch {
    return lang
  }
}

/** In order of preference. */
function wantedTags(acceptLanguage: string | undefined): string[] {
  return (acceptLanguage ?? '')
    .slice(0, 1000)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const weight = parameters.map((text) => text.trim()).find((text) => text.startsWith('q='))
      return { tag, weight: weight ? Number(weight.slice(2)) : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

function primaryOf(tag: string): string {
  return tag.split('-')[0]!
}
