/** Values put into sentences, as the language writes them. Runs in the server and in the page. */

type Values = Record<string, string | number>

/** `{name}` in `text` replaced by `values.name`. */
export function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** The form of a sentence that goes with `count`, filled. */
export function plural(lang: string, forms: { one: string; other: string }, count: number): string {
  const form = new Intl.PluralRules(lang).select(count) === 'one' ? forms.one : forms.other
  return fill(form, { count: numberFormat(lang).format(count) })
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** A number of bytes for people: a kilobyte is 1,000 bytes (IEC 80000-13), as file managers and messengers count. */
export function byteSize(lang: string, bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return sizeIn(lang, bytes / 1000 ** power, power)
}

/** A limit for people: one of 25 × 1,048,576 bytes is called 25 MB, and takes a little more than it says. */
export function limitSize(lang: string, bytes: number): string {
  const power = [3, 2, 1].find((power) => bytes % 1024 ** power === 0) ?? 0
  return power === 0 ? byteSize(lang, bytes) : sizeIn(lang, bytes / 1024 ** power, power)
}

function sizeIn(lang: string, amount: number, power: number): string {
  const text = numberFormat(lang, {
    style: 'unit',
    unit: UNITS[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 1 && amount < 10 ? 1 : 0,
  }).format(amount)
  // A number and its unit stay on one line.
  return text.replace(' ', '\u00a0')
}

const formats: Record<string, Intl.NumberFormat> = {}

/** Kept: making one takes a tenth of a page's time. */
export function numberFormat(lang: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = lang + JSON.stringify(options)
  formats[key] ??= new Intl.NumberFormat(lang, options)
  return formats[key]
}
