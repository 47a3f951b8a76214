/** operator queue */
import { Command } from 'commander'
import type { Case } from '../../../stores/reports.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { limitOption } from '../subjects.ts'

export function queueCommand(): Command {
  return new Command('queue')
    .description('reported images that wait for a decision: the most severe first, then by when they are due')
    .addOption(limitOption())
    .option('--held', 'held ones instead', false)
    .option('--json', 'one JSON object a line', false)
    .action(({ limit, held, json }: { limit: number; held: boolean; json: boolean }) =>
      onData(async ({ stores: { ledger, clock } }) => {
        const cases = await ledger.cases([held ? 'held' : 'open'], limit)
        for (const each of cases) print(json ? JSON.stringify(memberOf(each)) : lineOf(each, clock.now()))
        return 0
      }),
    )
}

/** Times are ISO 8601, UTC. */
export function memberOf({ openedAt, dueAt, decidedAt, isCrowded, isImageGone, ...rest }: Case): object {
  const [opened, due, decided] = [openedAt, dueAt, decidedAt].map((at) => at && new Date(at).toISOString())
  return { ...rest, opened, due, decided, crowded: isCrowded, gone: isImageGone }
}

export function lineOf(found: Case, now: number): string {
  const { id, category, severity, state, reports, dueAt, isCrowded, isImageGone } = found
  const count = `${reports} ${reports === 1 ? 'report' : 'reports'}`
  const last = [...(isCrowded ? ['crowded'] : []), ...(isImageGone ? ['image gone'] : [])].join(', ')
  return `${id} ${category} severity ${severity} ${count} ${state} ${due(dueAt - now)} ${last}`.trimEnd()
}

function due(leftMs: number): string {
  const minutes = Math.floor(Math.abs(leftMs) / 60_000)
  const span = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
  return leftMs < 0 ? `overdue by ${span}` : `due in ${span}`
}
