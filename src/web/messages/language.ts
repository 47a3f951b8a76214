/** Which language a person reads, and how numbers are written in it. */
import { english, type Messages } from './english.ts'
import { french } from './french.ts'
import { german } from './german.ts'

export const LANGUAGES: Messages[] = [english, german, french]

export interface Language {
  messages: Messages
  /** For dates: the person's own variety of the language, such as en-GB. A BCP 47 tag. */
  locale: string
}

/** The best of ours for an `Accept-Language` header (RFC 4647, lookup on the primary tag); English if none fits. */
export function pickLanguage(acceptLanguage: string | undefined): Language {
  for (const tag of wantedTags(acceptLanguage)) {
    const messages = LANGUAGES.find(({ lang }) => lang === tag.split('-')[0])
    if (messages) return { messages, locale: localeOf(tag) ?? messages.lang }
  }
  return { messages: english, locale: english.lang }
}

function localeOf(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    // Not a language tag, though it begins like one.
    return undefined
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
