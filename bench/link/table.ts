/** A row for each line, share of a core and picture; a column for each contestant. */
import { table } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'
import { type Cell, CONTESTANTS, type Contestant, FASTEST, type Measured } from './cells.ts'
import { isPhotograph, type Subject, TWENTY } from './pictures.ts'

interface Shown {
  seconds: number
  bytes: number
  isComputed: boolean
}

/** Seconds that one round trip adds, at least, to what the line needs for the bytes. */
const ROUND_TRIP = 0.04
const SOON = 2
const MARGIN = 1.1
const MARGIN_OF_MANY = 1.2
/** Unit: milliseconds. */
const LONGEST_TASK = 50

export function tableOf(measured: Measured[], subjects: Record<string, Subject>): string {
  const keyOf = ({ engine, subject, megabits, share }: Cell) => `${engine}|${share}|${megabits}|${subject}`
  const ours = measured.filter(({ contestant }) => contestant === 'pinhole')
  const rows = [...new Set(ours.map(keyOf))].sort().map((key) => {
    const rounds = ours.filter((one) => keyOf(one) === key)
    const cell = rounds[0]!
    const of = (contestant: Contestant) => shownOf(contestant, cell, measured, subjects)
    const tasks = rounds.flatMap(({ longestTaskMs }) => longestTaskMs ?? [])
    return [
      cell.engine,
      cell.share,
      `${cell.megabits} Mbit/s`,
      cell.subject,
      ...CONTESTANTS.map((contestant) => inWords(of(contestant))),
      demanded(cell, of),
      tasks.length === 0 ? '' : `${Math.round(Math.max(...tasks))} ms`,
    ]
  })
  const head = ['browser', 'core', 'line', 'picture', ...CONTESTANTS, 'demanded']
  return table([...head, `longest task of the page (≤ ${LONGEST_TASK} ms)`], rows)
}

function shownOf(
  contestant: Contestant,
  { engine, share, subject, megabits }: Cell,
  measured: Measured[],
  subjects: Record<string, Subject>,
): Shown | null {
  const sending = (bytes: number, line = megabits) => (8 * bytes) / 1e6 / line
  if (contestant === 'as it is') {
    const { bytes } = subjects[subject]!
    return { seconds: ROUND_TRIP + sending(bytes), bytes, isComputed: true }
  }
  const line = contestant === 'pinhole' ? megabits : FASTEST
  const found = measured.filter(
    (one) =>
      one.contestant === contestant &&
      one.engine === engine &&
      one.share === share &&
      one.subject === subject &&
      one.megabits === line,
  )
  if (found.length === 0) return null
  const bytes = summarize(found.map((one) => one.bytes)).median
  const seconds = summarize(found.map((one) => one.seconds)).median
  return {
    seconds: seconds - sending(bytes, line) + sending(bytes),
    bytes,
    isComputed: line !== megabits,
  }
}

function inWords(shown: Shown | null): string {
  if (shown === null) return ''
  const words = `${shown.seconds.toFixed(2)} s, ${(shown.bytes / 1e6).toFixed(2)} MB`
  return shown.isComputed ? `*${words}*` : words
}

function demanded({ subject, share, megabits }: Cell, of: (contestant: Contestant) => Shown | null): string {
  const ours = of('pinhole')
  const best = of('best')
  if (ours === null) return ''
  const verdict = (most: number) => `≤ ${most.toFixed(2)} s: ${ours.seconds <= most ? 'met' : '**MISSED**'}`
  if (subject === TWENTY) return verdict((MARGIN_OF_MANY * 8 * ours.bytes) / 1e6 / megabits)
  if (!isPhotograph(subject) || best === null) return ''
  const soon = verdict(Math.max(SOON, MARGIN * Math.min(of('as it is')!.seconds, best.seconds)))
  return share === 'quarter' && megabits === 10 ? `${soon}; half of best: ${verdict(best.seconds / 2)}` : soon
}
