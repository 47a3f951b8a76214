/** operator release */
import type { Command } from 'commander'
import { eachImage } from './each.ts'

export function releaseCommand(): Command {
  return eachImage({
    name: 'release',
    description: 'make held images visible again, as they were',
    act: (takedown, id, reason, by) => takedown.release(id, reason, by),
    done: (id) => `released ${id}`,
    missed: (id) => `${id} is not held`,
  })
}
