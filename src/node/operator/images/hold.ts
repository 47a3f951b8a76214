/** operator hold */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy, readIds, reasonOption, ruleOption } from '../subjects.ts'
import { doublesOption, sameUploaderOption, withDoubles, withOthers } from './related.ts'

interface HoldOptions {
  reason: string
  rule?: string
  sameUploader: boolean
  doubles: boolean
}

export function holdCommand(): Command {
  return new Command('hold')
    .description(
      'take images out of sight: they answer 403, and nobody can upload the same bytes, until they are released',
    )
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .addOption(doublesOption())
    .action((ids: string[], options: HoldOptions) =>
      onData(async ({ takedown, stores: { objects } }) => {
        let missed = 0
        const all = await withOthers(takedown, await withDoubles(objects, ids, options), options)
        for (const id of all) {
          const isDone = await takedown.hold(id, options.reason, actedBy(options))
          if (!isDone) missed++
          print(isDone ? `held ${id}` : `${id} was not there to be held`)
        }
        return missed === 0 ? 0 : 1
      }),
    )
}
