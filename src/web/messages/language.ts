/** Which language a person reads, and how numbers are written in it. */
import { english } from './english/english.ts'
import { french } from './french/french.ts'
import { german } from './german/german.ts'
import type { Messages } from './messages.ts'

export const LANGUAGES: Messages[] = [english, german, french]

/** The best of ours for an `Accept-Language` header (RFC 4647, lookup on the primary tag); English if none fits. */
export function pickMessages(acceptLanguage: string | undefined): Messages {
  const wanted = (acceptLanguage ?? '')
    .slice(0, 1000)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const weight = parameters.map((text) => text.trim()).find((text) => text.startsWith('q='))
      return { primary: tag.split('-')[0], weight: weight ? Number(weight.slice(2)) : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { primary } of wanted) {
    const found = LANGUAGES.find(({ lang }) => lang === primary)
    if (found) return found
  }
  return english
}
