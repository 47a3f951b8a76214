/** operator audit and export: what was done and decided. */
import { Command } from 'commander'
import type { AuditEntry } from '../../../stores/ledger.ts'
import { limitOption } from '../arguments.ts'
import { memberOf } from '../images/reported.ts'
import { onData } from '../on-data.ts'
import { isOutputRead, print } from '../print.ts'

export const auditCommand = new Command('audit')
  .alias('acts')
  .description('the audit log: what was done, by whom, when and why, the newest first')
  .addOption(limitOption())
  .option('--json', 'one JSON object a line', false)
  .action(
    onData(async ({ stores }, { limit, json }: { limit: number; json: boolean }) => {
      for (const entry of await stores.ledger.auditLog(limit)) {
        print(json ? JSON.stringify(entry) : lineOf(entry))
      }
    }),
  )

export function lineOf({ at, act, subject, reason, who, rule }: AuditEntry): string {
  const words = [at, act, subject, rule, JSON.stringify(reason), who && `by ${who}`]
  return words.filter(Boolean).join(' ')
}

const SHAPES = `
One JSON object a line, times in ISO 8601, UTC:
  {"kind":"act","at","act","subject","reason","who","rule"}      the oldest first
  {"kind":"case","id","category","severity","state","reports","opened","due","decided","crowded","gone"}
No reporter\u2019s words, names or addresses are in it.`

export const exportCommand = new Command('export')
  .description('print the audit log and the decision on every case, as JSON lines')
  .addHelpText('after', SHAPES)
  .action(
    onData(async ({ stores: { ledger } }) => {
      for await (const entry of ledger.everyAuditEntry()) {
        print(JSON.stringify({ kind: 'act', ...entry }))
        if (!isOutputRead()) return
      }
      for await (const each of ledger.everyCase()) {
        print(JSON.stringify({ kind: 'case', ...memberOf(each) }))
        if (!isOutputRead()) return
      }
    }),
  )
