/** Values put into sentences, as the language writes them. Runs in the server and in the page. */

type Values = Record<string, string | number>

/** `{name}` in `text` replaced by `values.name`. */
export function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** The form of a sentence that goes with `count`, filled. */
export function plural(lang: string, forms: { one: string; other: string }, count: number): string {
  const form = new Intl.PluralRules(lang).select(count) === 'one' ? forms.one : forms.other
  return fill(form, { count: new Intl.NumberFormat(lang).format(count) })
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** A number of bytes for people, in units of 1024, the way the limit of "25 MB" is counted. */
export function byteSize(lang: string, bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  const text = new Intl.NumberFormat(lang, {
    style: 'unit',
    unit: UNITS[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 1 && amount < 10 ? 1 : 0,
  }).format(amount)
  // A number and its unit stay on one line.
  return text.replace(' ', '\u00a0')
}
