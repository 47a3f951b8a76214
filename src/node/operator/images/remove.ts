/** operator remove */
import { Command } from 'commander'
import { isSelective, type Selection, selectionOptions } from '../data/selection.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy, readIds, reasonOption, ruleOption } from '../subjects.ts'
import { CONDITIONS, doublesOption, sameUploaderOption, subjectsOf, withOthers } from './related.ts'

interface RemoveOptions extends Selection {
  reason: string
  block: boolean
  doubles: boolean
  sameUploader: boolean
  rule?: string
}

export function removeCommand(): Command {
  const command = new Command('remove')
    .description('remove images for good: they answer 410')
    .argument('[id...]', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .option('--block', 'refuse the same bytes from now on', false)
    .addOption(doublesOption())
    .addHelpText('after', CONDITIONS)
  for (const option of selectionOptions()) command.addOption(option)
  return command.action((ids: string[], options: RemoveOptions) => {
    if (ids.length > 0 === isSelective(options)) {
      // Of what an action throws, commander says nothing itself.
      command.error('error: name ids, or conditions; not both')
    }
    return onData(async ({ takedown, stores: { objects } }) => {
      const all = await withOthers(takedown, await subjectsOf(ids, options, objects), options)
      let missed = 0
      for (const id of all) {
        const { removed, blocked } = await takedown.remove(id, options.reason, {
          block: options.block,
          by: actedBy(options),
        })
        const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
        if (!removed) missed++
        print(removed ? `removed ${id}${also}` : `${id} was not there; it answers 410 from now on${also}`)
      }
      if (all.length === 0) print('no image meets these conditions')
      return missed === 0 && all.length > 0 ? 0 : 1
    })
  })
}
