/** What a bench is told, what it finds, and how that is printed. */
import { ratios, summarize } from './statistics.ts'

export interface BenchOptions {
  /** A folder of its own, removed afterwards. */
  dir: string
  rounds: number
  /** Length of one turn. */
  seconds: number
  /** Stored images for `store`. */
  images: number
  /** Clients for `trickle`. */
  clients: number
  /** Whether what is found replaces what is kept. */
  save: boolean
}

/** Without one the figure is there for information. */
interface Demand {
  atLeast?: number | undefined
  atMost?: number | undefined
}

/** Two contestants, measured alternately. Demanded is the median of their ratios. Those of the same `what` share a row. */
export interface Comparison extends Demand {
  what: string
  reference: string
  subjectValues: number[]
  referenceValues: number[]
  unit: string
}

/** `values`: of contestants that took turns. */
export function comparisonOf(
  values: Map<string, number[]>,
  subject: string,
  reference: string,
  more: Pick<Comparison, 'what' | 'unit'> & Partial<Comparison>,
): Comparison {
  return {
    reference,
    subjectValues: values.get(subject)!,
    referenceValues: values.get(reference)!,
    ...more,
  }
}

/** One figure of ours. */
export interface Measure extends Demand {
  what: string
  /** Demanded is every value, or the median where they are ratios of two contestants' turns, which a busy machine scatters. */
  values: number[]
  unit: string
  areRatios?: boolean
}

export interface Figures {
  comparisons?: Comparison[]
  measures?: Measure[]
  /** Instead of the tables of both, in Markdown. */
  table?: string
}

/** As Markdown tables. */
export function tablesOf({ comparisons = [], measures = [], table: own }: Figures): string {
  if (own !== undefined) return own
  const tables: string[] = []
  if (comparisons.length > 0) tables.push(comparisonTable(comparisons))
  if (measures.length > 0) tables.push(table(['figure', 'median'], measures.map(measureRow)))
  return tables.join('\n\n')
}

/** A column for each reference has the ratio to it. */
function comparisonTable(comparisons: Comparison[]): string {
  const references = [...new Set(comparisons.map(({ reference }) => reference))]
  const rows = [...Map.groupBy(comparisons, ({ what }) => what)].map(([what, all]) => [
    what,
    `${rounded(summarize(all[0]!.subjectValues).median)} ${all[0]!.unit}`,
    ...references.map((name) => {
      const found = all.find(({ reference }) => reference === name)
      if (!found) return ''
      const ratio = summarize(ratios(found.subjectValues, found.referenceValues)).median
      return `${ratio.toFixed(2)}${demandOn(ratio, found)}`
    }),
  ])
  return table(['', 'ours', ...references], rows)
}

function measureRow({ what, values, unit, areRatios, ...demand }: Measure): string[] {
  const { min, median, max } = summarize(values)
  const [worst, name] = demand.atLeast === undefined ? [max, 'max'] : [min, 'min']
  const judged = areRatios ? median : worst
  const told = rounded(judged) === rounded(median) ? '' : `${name} ${rounded(judged)}, `
  return [what, `${rounded(median)} ${unit}`.trim() + demandOn(judged, demand, told)]
}

function demandOn(value: number, { atLeast, atMost }: Demand, told = ''): string {
  if (atLeast !== undefined) return ` (${told}≥ ${atLeast}: ${verdict(value >= atLeast)})`
  return atMost === undefined ? '' : ` (${told}< ${atMost}: ${verdict(value < atMost)})`
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
