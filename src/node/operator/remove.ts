/** operator remove */
import { Command } from 'commander'
import { actedBy, ruleOption } from './by.ts'
import { onData } from './data.ts'
import { print } from './print.ts'
import { sameUploaderOption, withOthers } from './same-uploader.ts'
import { readIds, reasonOption } from './subjects.ts'

export function removeCommand(): Command {
  return new Command('remove')
    .description('remove images for good: they answer 410')
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .option('--block', 'refuse the same bytes from now on', false)
    .action(
      (ids: string[], options: { reason: string; block: boolean; rule?: string; sameUploader: boolean }) =>
        onData(async ({ takedown }) => {
          let missed = 0
          for (const id of await withOthers(takedown, ids, options)) {
            const { removed, blocked } = await takedown.remove(id, options.reason, {
              block: options.block,
              by: actedBy(options),
            })
            const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
            if (!removed) missed++
            print(removed ? `removed ${id}${also}` : `${id} was not there; it answers 410 from now on`)
          }
          return missed === 0 ? 0 : 1
        }),
    )
}
