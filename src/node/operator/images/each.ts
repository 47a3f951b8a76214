/** A command that does one thing to each of many images, with a reason on record. */
import { Command } from 'commander'
import type { Takedown } from '../../../service/moderation/takedown.ts'
import type { Actor } from '../../../stores/ledger.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readIds, reasonOption } from '../subjects.ts'
import { actedBy, ruleOption } from './by.ts'

/** `act`: `false` if there was nothing to do. Then the command exits with 1. */
export function eachImage(options: {
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
