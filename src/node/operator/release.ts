/** operator release */
import { Command } from 'commander'
import { actedBy, ruleOption } from './by.ts'
import { onData } from './data.ts'
import { print } from './print.ts'
import { readIds, reasonOption } from './subjects.ts'

export function releaseCommand(): Command {
  return new Command('release')
    .description('make held images visible again, as they were')
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .action((ids: string[], options: { reason: string; rule?: string }) =>
      onData(async ({ takedown }) => {
        let missed = 0
        for (const id of ids) {
          const isDone = await takedown.release(id, options.reason, actedBy(options))
          if (!isDone) missed++
          print(isDone ? `released ${id}` : `${id} is not held`)
        }
        return missed === 0 ? 0 : 1
      }),
    )
}
