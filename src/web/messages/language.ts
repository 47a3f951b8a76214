/** Language negotiation. */
import { english, type Messages } from './english.ts'
import { french } from './french.ts'
import { german } from './german.ts'

export const LANGUAGES: Messages[] = [english, german, french]

export interface Language {
  messages: Messages
  /** BCP 47 tag for dates, such as en-GB: the visitor's regional variety of the language. */
  locale: string
}

/** Best supported language for an `Accept-Language` header (RFC 4647 lookup by primary tag). Default: English. */
export function pickLanguage(acceptLanguage: string | undefined): Language {
  for (const tag of acceptedTags(acceptLanguage)) {
    const messages = LANGUAGES.find(({ lang }) => lang === tag.split('-')[0])
    if (messages) return { messages, locale: localeOf(tag) ?? messages.lang }
  }
  return { messages: english, locale: english.lang }
}

function localeOf(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    // Malformed, although the primary tag is valid.
    return undefined
  }
}

/** Tags in order of preference. */
function acceptedTags(acceptLanguage: string | undefined): string[] {
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
