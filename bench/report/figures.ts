/** The options and results of a bench, and their Markdown tables. */
import { ratios, summarize } from './statistics.ts'

export interface BenchOptions {
  /** The bench's own folder, removed afterwards. */
  dir: string
  rounds: number
  /** Length of one turn. Unit: seconds. */
  seconds: number
  /** Number of stored images for `store`. */
  images: number
  /** Number of clients for `trickle` and `challenge`. */
  clients: number
  /** Replaces the saved figures. */
  save: boolean
}

/** A required bound. Figures without one are informational. */
interface Bound {
  atLeast?: number | undefined
  atMost?: number | undefined
}

/** Two contestants, measured alternately. The bound applies to the median of their ratios. Equal `label`s share a row. */
export interface Comparison extends Bound {
  label: string
  reference: string
  subjectValues: number[]
  referenceValues: number[]
  unit: string
}

/** `values`: the result of `interleaved`. */
export function comparisonOf(
  values: Map<string, number[]>,
  subject: string,
  reference: string,
  more: Pick<Comparison, 'label' | 'unit'> & Partial<Comparison>,
): Comparison {
  return {
    reference,
    subjectValues: values.get(subject)!,
    referenceValues: values.get(reference)!,
    ...more,
  }
}

/** One figure of Pinhole. */
export interface Measure extends Bound {
  label: string
  /** The bound applies to every value; or to the median for ratios of two contestants, which are noisy on a busy machine. */
  values: number[]
  unit: string
  areRatios?: boolean
}

export interface Figures {
  comparisons?: Comparison[]
  measures?: Measure[]
  /** A Markdown table to use instead of the generated ones. */
  table?: string
}

/** The figures as Markdown tables. */
export function tablesOf({ comparisons = [], measures = [], table: own }: Figures): string {
  if (own !== undefined) return own
  const tables: string[] = []
  if (comparisons.length > 0) tables.push(comparisonTable(comparisons))
  if (measures.length > 0) tables.push(table(['figure', 'median'], measures.map(measureRow)))
  return tables.join('\n\n')
}

/** Has one column per reference, with the ratio to it. */
function comparisonTable(comparisons: Comparison[]): string {
  const references = [...new Set(comparisons.map(({ reference }) => reference))]
  const rows = [...Map.groupBy(comparisons, ({ label }) => label)].map(([label, all]) => [
    label,
    `${rounded(summarize(all[0]!.subjectValues).median)} ${all[0]!.unit}`,
    ...references.map((name) => {
      const found = all.find(({ reference }) => reference === name)
      if (!found) return ''
      const ratio = summarize(ratios(found.subjectValues, found.referenceValues)).median
      return `${ratio.toFixed(2)}${describeBound(ratio, found)}`
    }),
  ])
  return table(['', 'ours', ...references], rows)
}

function measureRow({ label, values, unit, areRatios, ...bound }: Measure): string[] {
  const { min, median, max } = summarize(values)
  const [worst, name] = bound.atLeast === undefined ? [max, 'max'] : [min, 'min']
  const judged = areRatios ? median : worst
  const worstPrefix = rounded(judged) === rounded(median) ? '' : `${name} ${rounded(judged)}, `
  return [label, `${rounded(median)} ${unit}`.trim() + describeBound(judged, bound, worstPrefix)]
}

function describeBound(value: number, { atLeast, atMost }: Bound, worstPrefix = ''): string {
  if (atLeast !== undefined) return ` (${worstPrefix}≥ ${atLeast}: ${verdict(value >= atLeast)})`
  return atMost === undefined ? '' : ` (${worstPrefix}< ${atMost}: ${verdict(value < atMost)})`
}

export function verdict(isMet: boolean): string {
  return isMet ? 'met' : '**MISSED**'
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

export function table(head: string[], rows: string[][]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}
