/** operator hold */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readIds, reasonOption } from '../subjects.ts'
import { actedBy, ruleOption } from './by.ts'
import { sameUploaderOption, withOthers } from './same-uploader.ts'

export function holdCommand(): Command {
  return new Command('hold')
    .description('take images out of sight: they answer 403 until they are released')
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .action((ids: string[], options: { reason: string; rule?: string; sameUploader: boolean }) =>
      onData(async ({ takedown }) => {
        let missed = 0
        for (const id of await withOthers(takedown, ids, options)) {
          const isDone = await takedown.hold(id, options.reason, actedBy(options))
          if (!isDone) missed++
          print(isDone ? `held ${id}` : `${id} was not there to be held`)
        }
        return missed === 0 ? 0 : 1
      }),
    )
}
