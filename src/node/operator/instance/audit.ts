/** operator audit and export: the audit log. */
import { Command } from 'commander'
import type { AuditEntry } from '../../../stores/ledger.ts'
import { limitOption } from '../arguments.ts'
import { memberOf } from '../images/reported.ts'
import { onData } from '../on-data.ts'
import { hasOutputReader, print, printList } from '../print.ts'

export const auditCommand = new Command('audit')
  .alias('acts')
  .description('print the audit log, newest entries first')
  .addOption(limitOption())
  .option('--json', 'print one JSON object per line', false)
  .action(
    onData(async ({ stores }, { limit, json }: { limit: number; json: boolean }) => {
      const entries = await stores.ledger.auditLog(limit + 1)
      if (entries.length === 0 && !json) print('no entries')
      printList(entries, limit, json ? JSON.stringify : lineOf)
    }),
  )

export function lineOf({ at, act, subject, reason, who, rule }: AuditEntry): string {
  const words = [at, act, subject, rule, JSON.stringify(reason), who && `by ${who}`]
  return words.filter(Boolean).join(' ')
}

const SHAPES = `
One JSON object per line, times in ISO 8601, UTC:
  {"kind":"act","at","act","subject","reason","who","rule"}      oldest first
  {"kind":"case","id","category","severity","state","reports","opened","due","decided","crowded","gone"}
Reporters\u2019 texts, names and addresses are not included.`

export const exportCommand = new Command('export')
  .description('print the audit log and the decision on every case, as JSON lines')
  .addHelpText('after', SHAPES)
  .action(
    onData(async ({ stores: { ledger } }) => {
      for await (const entry of ledger.everyAuditEntry()) {
        print(JSON.stringify({ kind: 'act', ...entry }))
        if (!hasOutputReader()) return
      }
      for await (const each of ledger.everyCase()) {
        print(JSON.stringify({ kind: 'case', ...memberOf(each) }))
        if (!hasOutputReader()) return
      }
    }),
  )
