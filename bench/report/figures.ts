/** What a bench is told, what it finds, and how that is printed. */
import { ratios, type Summary, summarize } from './statistics.ts'

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

/** Two contestants, measured alternately. */
export interface Comparison {
  what: string
  reference: string
  subjectValues: number[]
  referenceValues: number[]
  unit: string
  /** The ratio of medians of turns that is demanded. Without it the row is there for information. */
  atLeast?: number | undefined
}

/** `values`: of contestants that took turns. */
export function comparisonOf(
  values: Map<string, number[]>,
  subject: string,
  reference: string,
  more: Pick<Comparison, 'what' | 'unit' | 'atLeast'>,
): Comparison {
  return {
    reference,
    subjectValues: values.get(subject)!,
    referenceValues: values.get(reference)!,
    ...more,
  }
}

/** One figure of ours. */
export interface Measure {
  what: string
  values: number[]
  unit: string
  /** Demanded of every value, or of the median where they are ratios of two contestants' turns, which a busy machine scatters. */
  atMost?: number
  atLeast?: number
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
  if (comparisons.length > 0) {
    tables.push(
      table(
        ['ours', 'against', 'ours, median', 'reference, median', 'ratio min', 'median', 'max', 'demanded'],
        comparisons.map(comparisonRow),
      ),
    )
  }
  if (measures.length > 0) {
    tables.push(table(['figure', 'min', 'median', 'max', 'unit', 'demanded'], measures.map(measureRow)))
  }
  return tables.join('\n\n')
}

function comparisonRow(row: Comparison): string[] {
  const ratio = summarize(ratios(row.subjectValues, row.referenceValues))
  return [
    row.what,
    row.reference,
    `${rounded(summarize(row.subjectValues).median)} ${row.unit}`,
    `${rounded(summarize(row.referenceValues).median)} ${row.unit}`,
    ratio.min.toFixed(2),
    ratio.median.toFixed(2),
    ratio.max.toFixed(2),
    row.atLeast === undefined ? '' : `≥ ${row.atLeast}: ${verdict(ratio.median >= row.atLeast)}`,
  ]
}

function measureRow(row: Measure): string[] {
  const found = summarize(row.values)
  const { min, median, max } = found
  return [row.what, rounded(min), rounded(median), rounded(max), row.unit, demandOn(row, found)]
}

function demandOn({ atMost, atLeast, areRatios }: Measure, { min, median, max }: Summary): string {
  if (atLeast !== undefined) return `≥ ${atLeast}: ${verdict((areRatios ? median : min) >= atLeast)}`
  return atMost === undefined ? '' : `< ${atMost}: ${verdict((areRatios ? median : max) < atMost)}`
}

function verdict(met: boolean): string {
  return met ? 'met' : 'MISSED'
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

export function table(head: string[], rows: string[][]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
