/** One row per core share, bandwidth and picture; one column per browser, with our page's seconds, and per peer. */
import { table, verdict } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'
import { type Cell, CONTESTANTS, type Contestant, ENGINES, FASTEST, type Measured } from './cells.ts'
import { isPhotograph, type Subject, TWENTY } from './pictures.ts'

/** Minimum overhead of one round trip, in addition to the transmission time. Unit: seconds. */
const ROUND_TRIP = 0.04
const SOON = 2
const MARGIN = 1.1
const MARGIN_OF_MANY = 1.2

type Row = Pick<Cell, 'engine' | 'share' | 'megabits' | 'subject'>

export function tableOf(measured: Measured[], subjects: Record<string, Subject>): string {
  const ours = measured.filter(({ contestant }) => contestant === 'pinhole')
  const keyOf = ({ subject, megabits, share }: Row) => `${share}|${megabits}|${subject}`
  const rows = [...new Set(ours.map(keyOf))].sort().map((key) => {
    const own = ours.filter((one) => keyOf(one) === key)
    const secondsOf = (contestant: Contestant) =>
      shownOf(contestant, { ...own[0]!, engine: 'chromium' }, measured, subjects)?.seconds.toFixed(2) ?? ''
    const tasks = own.map(({ longestTaskMs }) => longestTaskMs)
    return [
      own[0]!.share,
      `${own[0]!.megabits}`,
      own[0]!.subject,
      ...ENGINES.map((engine) =>
        inWords({ ...own[0]!, engine }, (contestant) =>
          shownOf(contestant, { ...own[0]!, engine }, measured, subjects),
        ),
      ),
      ...CONTESTANTS.slice(1).map(secondsOf),
      `${Math.round(Math.max(...tasks))}`,
    ]
  })
  return table(['core', 'Mbit/s', 'picture', ...ENGINES, ...CONTESTANTS.slice(1), 'task, ms'], rows)
}

/** Seconds and bytes of a cell: measured, or computed from the bytes when this bandwidth was not measured. */
function shownOf(
  contestant: Contestant,
  { engine, share, subject, megabits }: Row,
  measured: Measured[],
  subjects: Record<string, Subject>,
): { seconds: number; bytes: number } | null {
  const sending = (bytes: number, bandwidth = megabits) => (8 * bytes) / 1e6 / bandwidth
  if (contestant === 'as it is') {
    const { bytes } = subjects[subject]!
    return { seconds: ROUND_TRIP + sending(bytes), bytes }
  }
  const measuredMegabits = contestant === 'pinhole' ? megabits : FASTEST
  const found = measured.filter(
    (one) =>
      one.contestant === contestant &&
      one.engine === engine &&
      one.share === share &&
      one.subject === subject &&
      one.megabits === measuredMegabits,
  )
  if (found.length === 0) return null
  const bytes = summarize(found.map((one) => one.bytes)).median
  const seconds = summarize(found.map((one) => one.seconds)).median
  return { seconds: seconds - sending(bytes, measuredMegabits) + sending(bytes), bytes }
}

function inWords(cell: Row, of: (contestant: Contestant) => ReturnType<typeof shownOf>): string {
  const ours = of('pinhole')
  if (ours === null) return ''
  const max = maxSeconds(cell, ours.bytes, of('best')?.seconds, of('as it is')!.seconds)
  const seconds = ours.seconds.toFixed(2)
  return max === null ? seconds : `${seconds} (≤ ${max.toFixed(2)}: ${verdict(ours.seconds <= max)})`
}

/** The required bound; `null` when there is none. Unit: seconds. */
function maxSeconds(
  { subject, share, megabits }: Row,
  bytes: number,
  best: number | undefined,
  asItIs: number,
): number | null {
  if (subject === TWENTY) return (MARGIN_OF_MANY * 8 * bytes) / 1e6 / megabits
  if (!isPhotograph(subject) || best === undefined) return null
  const soon = Math.max(SOON, MARGIN * Math.min(asItIs, best))
  return share === 'quarter' && megabits === 10 ? Math.min(soon, best / 2) : soon
}
