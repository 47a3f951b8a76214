/** operator keep */
import type { Command } from 'commander'
import { eachImage } from './each.ts'

export function keepCommand(): Command {
  return eachImage({
    name: 'keep',
    description: 'decide that reported images stay; held ones are released',
    act: (takedown, id, reason, by) => takedown.keep(id, reason, by),
    done: (id) => `kept ${id}`,
    missed: (id) => `${id} has no case, or was removed`,
  })
}
