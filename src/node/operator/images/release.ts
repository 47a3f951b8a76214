/** operator release and keep: each does one thing to each of many images, with a reason on record. */
import { Command } from 'commander'
import type { Takedown } from '../../../service/moderation/takedown.ts'
import type { Actor } from '../../../stores/ledger.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy, readIds, reasonOption, ruleOption } from '../subjects.ts'

export function releaseCommand(): Command {
  return eachImage({
    name: 'release',
    description: 'make held images visible again, as they were',
    act: (takedown, id, reason, by) => takedown.release(id, reason, by),
    done: (id) => `released ${id}`,
    missed: (id) => `${id} is not held`,
  })
}

export function keepCommand(): Command {
  return eachImage({
    name: 'keep',
    description: 'decide that reported images stay; held ones are released',
    act: (takedown, id, reason, by) => takedown.keep(id, reason, by),
    done: (id) => `kept ${id}`,
    missed: (id) => `${id} has no case, or was removed`,
  })
}

/** `act`: `false` if there was nothing to do. Then the command exits with 1. */
function eachImage(options: {
  name: string
  description: string
  act(takedown: Takedown, id: string, reason: string, by: Actor): Promise<boolean>
  done(id: string): string
  missed(id: string): string
}): Command {
  const { name, description, act, done, missed } = options
  return new Command(name)
    .description(description)
    .argument('<id...>', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .action((ids: string[], given: { reason: string; rule?: string }) =>
      onData(async ({ takedown }) => {
        let missing = 0
        for (const id of ids) {
          const isDone = await act(takedown, id, given.reason, actedBy(given))
          if (!isDone) missing++
          print(isDone ? done(id) : missed(id))
        }
        return missing === 0 ? 0 : 1
      }),
    )
}
