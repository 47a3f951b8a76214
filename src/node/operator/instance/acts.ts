/** operator acts */
import { Command } from 'commander'
import type { Act } from '../../../stores/ledger.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { limitOption } from '../subjects.ts'

export function actsCommand(): Command {
  return new Command('acts')
    .description('what was done, by whom, when and why, the newest first')
    .addOption(limitOption())
    .option('--json', 'one JSON object a line', false)
    .action(({ limit, json }: { limit: number; json: boolean }) =>
      onData(async ({ stores }) => {
        for (const act of await stores.ledger.acts(limit)) print(json ? JSON.stringify(act) : lineOf(act))
        return 0
      }),
    )
}

export function lineOf({ at, act, subject, reason, who, rule }: Act): string {
  return [
    at,
    act,
    subject,
    ...(rule ? [rule] : []),
    JSON.stringify(reason),
    ...(who ? [`by ${who}`] : []),
  ].join(' ')
}
