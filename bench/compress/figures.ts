/** The figures of a run, and whether they meet the requirements. */
import { table, verdict } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'
import type { Result } from './run.ts'

export interface Gate {
  label: string
  figure: string
  passed: boolean
}

/** A contestant that supports only JPEG. */
export const STOCK = 'mozjpeg 85 as it comes'

const median = (values: number[]) => summarize(values).median
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const ratio = ({ bytes, input }: Result) => bytes.length / input.bytes.length
/** Unit: milliseconds per megapixel. */
const speedOf = ({ cpuMilliseconds, input }: Result) => (1e6 * cpuMilliseconds) / (input.width * input.height)

export function photoGates(results: Result[], again: number[]): Gate[] {
  const own = results.filter(({ contestant }) => contestant === 'pinhole')
  const saved = 1 - median(own.map(ratio))
  const speed = median(own.map(speedOf))
  const worst = Math.min(...again)
  return [
    {
      label: 'photographs: median saved ≥ 60 %',
      figure: `${(100 * saved).toFixed(1)} %`,
      passed: saved >= 0.6,
    },
    {
      label: 'second run over own output keeps ≥ 0.98',
      figure: worst.toFixed(3),
      passed: worst >= 0.98,
    },
    {
      label: 'JPEG in a Chromium worker: ≤ 150 ms/MP of CPU time (median)',
      figure: speed.toFixed(0),
      passed: speed <= 150,
    },
  ]
}

export function screenGates(results: Result[]): Gate[] {
  const own = results.filter(({ contestant }) => contestant === 'pinhole')
  const lossless = own.filter(({ type }) => type !== 'image/jpeg')
  const total = totalRatio(own)
  const exact = lossless.filter(({ exact }) => exact).length
  return [
    {
      label: 'screenshots: lossless results exact to the pixel',
      figure: `${exact} of ${lossless.length}`,
      passed: exact === lossless.length,
    },
    {
      label: 'screenshots: total ≤ 0.50 of the source',
      figure: total.toFixed(3),
      passed: total <= 0.5,
    },
  ]
}

function totalRatio(results: Result[]): number {
  return sum(results.map(({ bytes }) => bytes.length)) / sum(results.map(({ input }) => input.bytes.length))
}

/** One row per contestant. */
export function summaryTable(results: Result[]): string {
  const contestants = [...new Set(results.map(({ contestant }) => contestant))]
  const rows = contestants.map((name) => {
    const own = results.filter(({ contestant }) => contestant === name)
    const scores = own.flatMap(({ score }) => (score === null ? [] : [score.norm]))
    return [
      name,
      median(own.map(ratio)).toFixed(3),
      scores.length > 0 ? `${median(scores).toFixed(2)} / ${Math.max(...scores).toFixed(2)}` : '–',
      median(own.map(speedOf)).toFixed(0),
    ]
  })
  return table(['', 'size', 'butteraugli, median / worst', 'CPU ms/MP'], rows)
}

export function gateTable(gates: Gate[]): string {
  return table(
    ['demanded', 'figure'],
    gates.map(({ label, figure, passed }) => [label, `${figure}: ${verdict(passed)}`]),
  )
}
