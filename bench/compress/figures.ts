/** What a run says, and whether it is good enough. */
import { table } from '../report/figures.ts'
import { percentile } from '../report/statistics.ts'
import type { Result } from './run.ts'

export interface Gate {
  what: string
  figure: string
  passed: boolean
}

/** A contestant that only takes JPEG. */
export const STOCK = 'mozjpeg 85 as it comes'

const median = (values: number[]) =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const ratio = ({ bytes, input }: Result) => bytes.length / input.bytes.length
const megapixels = ({ input }: Result) => (input.width * input.height) / 1e6

export function photoGates(results: Result[], again: number[]): Gate[] {
  const own = results.filter(({ contestant }) => contestant === 'pinhole')
  const saved = 1 - median(own.map(ratio))
  const speedOf = (results: Result[]) =>
    median(results.map((result) => result.cpuMilliseconds / megapixels(result)))
  const speed = speedOf(own)
  const stock = speedOf(results.filter(({ contestant }) => contestant === STOCK))
  const worst = Math.min(...again)
  return [
    {
      what: 'photographs: median saved at least 60 %',
      figure: `${(100 * saved).toFixed(1)} %`,
      passed: saved >= 0.6,
    },
    {
      what: 'second run over own output keeps at least 0.98',
      figure: worst.toFixed(3),
      passed: worst >= 0.98,
    },
    {
      what: 'JPEG in a Chromium worker: at most 150 ms/MP of CPU time (median)',
      figure: `${speed.toFixed(0)} ms/MP (${STOCK}, interleaved: ${stock.toFixed(0)})`,
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
      what: 'screenshots: every lossless result exact to the pixel and its alpha',
      figure: `${exact} of ${lossless.length}`,
      passed: exact === lossless.length,
    },
    {
      what: 'screenshots: total at most 0.50 of the source',
      figure: `${total.toFixed(3)} (${totalRatio(lossless).toFixed(3)} without those that became JPEG)`,
      passed: total <= 0.5,
    },
  ]
}

function totalRatio(results: Result[]): number {
  return sum(results.map(({ bytes }) => bytes.length)) / sum(results.map(({ input }) => input.bytes.length))
}

/** One row a contestant. */
export function summaryTable(results: Result[]): string {
  const contestants = [...new Set(results.map(({ contestant }) => contestant))]
  const rows = contestants.map((name) => {
    const own = results.filter(({ contestant }) => contestant === name)
    const scores = own.flatMap(({ score }) => (score === null ? [] : [score.norm]))
    const ratios = own.map(ratio)
    return [
      name,
      median(ratios).toFixed(3),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      totalRatio(own).toFixed(3),
      scores.length > 0 ? `${median(scores).toFixed(2)} / ${Math.max(...scores).toFixed(2)}` : '–',
      `${own.length - scores.length}`,
      median(own.map((result) => result.cpuMilliseconds / megapixels(result))).toFixed(0),
      median(own.map((result) => result.milliseconds / megapixels(result))).toFixed(0),
    ]
  })
  return table(
    [
      '',
      'size, median',
      'range',
      'size, total',
      'butteraugli (3-norm), median / worst',
      'scaled down',
      'CPU ms/MP',
      'waited ms/MP',
    ],
    rows,
  )
}

/** One row a file: size and score of each contestant. */
export function detailTable(results: Result[]): string {
  const contestants = [...new Set(results.map(({ contestant }) => contestant))]
  const inputs = [...new Map(results.map(({ input }) => [input.name, input])).values()]
  const rows = inputs.map(({ name, sha256, bytes, width, height }) => [
    name,
    sha256,
    `${width}×${height}`,
    `${(bytes.length / 1000).toFixed(0)} kB`,
    ...contestants.map((contestant) => {
      const result = results.find((result) => result.contestant === contestant && result.input.name === name)!
      const kind = result.type.slice(6)
      const score = result.exact ? 'exact' : result.score === null ? 'scaled' : result.score.norm.toFixed(2)
      return `${ratio(result).toFixed(2)} ${kind}, ${score}`
    }),
  ])
  return table(['file', 'SHA-256', 'size', 'bytes', ...contestants], rows)
}

export function gateTable(gates: Gate[]): string {
  return table(
    ['gate', 'figure', ''],
    gates.map(({ what, figure, passed }) => [what, figure, passed ? 'passed' : '**missed**']),
  )
}
