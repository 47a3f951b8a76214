/** operator hold */
import { Command } from 'commander'
import { isSelective, type Selection, selectionOptions } from '../data/selection.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy, readIds, reasonOption, ruleOption } from '../subjects.ts'
import { CONDITIONS, doublesOption, sameUploaderOption, subjectsOf, withOthers } from './related.ts'

interface HoldOptions extends Selection {
  reason: string
  rule?: string
  sameUploader: boolean
  doubles: boolean
}

export function holdCommand(): Command {
  const command = new Command('hold')
    .description(
      'take images out of sight: they answer 403, and nobody can upload the same bytes, until they are released',
    )
    .argument('[id...]', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .addOption(doublesOption())
    .addHelpText('after', CONDITIONS)
  for (const option of selectionOptions()) command.addOption(option)
  return command.action((ids: string[], options: HoldOptions) => {
    if (ids.length > 0 === isSelective(options)) {
      // Of what an action throws, commander says nothing itself.
      command.error('error: name ids, or conditions; not both')
    }
    return onData(async ({ takedown, stores: { objects } }) => {
      let missed = 0
      const all = await withOthers(takedown, await subjectsOf(ids, options, objects), options)
      for (const id of all) {
        const isDone = await takedown.hold(id, options.reason, actedBy(options))
        if (!isDone) missed++
        print(isDone ? `held ${id}` : `${id} was not there to be held`)
      }
      if (all.length === 0) print('no image meets these conditions')
      return missed === 0 && all.length > 0 ? 0 : 1
    })
  })
}
