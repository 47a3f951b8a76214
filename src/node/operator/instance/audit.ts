/** operator audit */
import { Command } from 'commander'
import type { AuditEntry } from '../../../stores/ledger.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { limitOption } from '../subjects.ts'

export function auditCommand(): Command {
  return new Command('audit')
    .alias('acts')
    .description('the audit log: what was done, by whom, when and why, the newest first')
    .addOption(limitOption())
    .option('--json', 'one JSON object a line', false)
    .action(({ limit, json }: { limit: number; json: boolean }) =>
      onData(async ({ stores }) => {
        for (const entry of await stores.ledger.auditLog(limit))
          print(json ? JSON.stringify(entry) : lineOf(entry))
        return 0
      }),
    )
}

export function lineOf({ at, act, subject, reason, who, rule }: AuditEntry): string {
  return [
    at,
    act,
    subject,
    ...(rule ? [rule] : []),
    JSON.stringify(reason),
    ...(who ? [`by ${who}`] : []),
  ].join(' ')
}
