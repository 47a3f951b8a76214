/** operator export */
import { Command } from 'commander'
import { memberOf } from '../images/queue.ts'
import { onData } from '../on-data.ts'
import { isOutputRead, print } from '../print.ts'

const SHAPES = `
One JSON object a line, times in ISO 8601, UTC:
  {"kind":"act","at","act","subject","reason","who","rule"}      the oldest first
  {"kind":"case","id","category","severity","state","reports","opened","due","decided","crowded","gone"}
No reporter\u2019s words, names or addresses are in it.`

export function exportCommand(): Command {
  return new Command('export')
    .description('print the audit log and the decision on every case, as JSON lines')
    .addHelpText('after', SHAPES)
    .action(() =>
      onData(async ({ stores: { ledger } }) => {
        for await (const entry of ledger.everyAuditEntry()) {
          print(JSON.stringify({ kind: 'act', ...entry }))
          if (!isOutputRead()) return 0
        }
        for await (const each of ledger.everyCase()) {
          print(JSON.stringify({ kind: 'case', ...memberOf(each) }))
          if (!isOutputRead()) return 0
        }
        return 0
      }),
    )
}
