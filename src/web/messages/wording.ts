/** Placeholders, plurals and number formats. Runs on the server and in the browser. */

export type Values = Record<string, string | number>

/** Replaces each `{name}` in `text` with `values.name`. */
export function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (match, name: string) => String(values[name] ?? match))
}

/** Picks the plural form for `count` and fills it in. */
export function plural(lang: string, forms: { one: string; other: string }, count: number): string {
  const form = new Intl.PluralRules(lang).select(count) === 'one' ? forms.one : forms.other
  return fill(form, { count: numberFormat(lang).format(count) })
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** Human-readable size. A kilobyte is 1,000 bytes (IEC 80000-13), as in file managers and messengers. */
export function byteSize(lang: string, bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return sizeIn(lang, bytes / 1000 ** power, power)
}

/** Human-readable limit. 25 × 1,048,576 bytes is shown as 25 MB, so the actual limit is slightly higher. */
export function limitSize(lang: string, bytes: number): string {
  const power = [3, 2, 1].find((power) => bytes % 1024 ** power === 0) ?? 0
  return power === 0 ? byteSize(lang, bytes) : sizeIn(lang, bytes / 1024 ** power, power)
}

const DURATIONS = { day: 86_400, hour: 3600, minute: 60, second: 1 }

/** In the largest unit that divides it: 172,800 seconds are 2 days. */
export function duration(lang: string, seconds: number): string {
  const [unit, length] = Object.entries(DURATIONS).find(([, length]) => seconds % length === 0)!
  return numberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / length)
}

function sizeIn(lang: string, amount: number, power: number): string {
  const text = numberFormat(lang, {
    style: 'unit',
    unit: UNITS[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 1 && amount < 10 ? 1 : 0,
  }).format(amount)
  // No line break between number and unit.
  return text.replace(' ', '\u00a0')
}

const formats: Record<string, Intl.NumberFormat> = {}

/** Cached, because creating a formatter takes a tenth of a page's rendering time. */
export function numberFormat(lang: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = lang + JSON.stringify(options)
  formats[key] ??= new Intl.NumberFormat(lang, options)
  return formats[key]
}
