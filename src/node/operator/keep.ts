/** operator keep */
import { Command } from 'commander'
import { actedBy, ruleOption } from './by.ts'
import { onData } from './data.ts'
import { print } from './print.ts'
import { readIds, reasonOption } from './subjects.ts'

export function keepCommand(): Command {
  return new Command('keep')
    .description('decide that reported images stay; held ones are released')
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .action((ids: string[], options: { reason: string; rule?: string }) =>
      onData(async ({ takedown }) => {
        let missed = 0
        for (const id of ids) {
          const isDone = await takedown.keep(id, options.reason, actedBy(options))
          if (!isDone) missed++
          print(isDone ? `kept ${id}` : `${id} has no case, or was removed`)
        }
        return missed === 0 ? 0 : 1
      }),
    )
}
