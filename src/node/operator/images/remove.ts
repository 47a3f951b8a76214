/** operator remove */
import { Command } from 'commander'
import { actedBy } from '../subjects.ts'
import { onSubjects, type SubjectOptions } from './related.ts'

interface RemoveOptions extends SubjectOptions {
  block: boolean
}

export function removeCommand(): Command {
  const command = new Command('remove')
    .description('remove images for good: they answer 410')
    .option('--block', 'refuse the same bytes from now on', false)
  return onSubjects<RemoveOptions>(command, async (takedown, id, options) => {
    const { block, reason } = options
    const { removed, blocked } = await takedown.remove(id, reason, { block, by: actedBy(options) })
    const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
    const says = removed ? `removed ${id}${also}` : `${id} was not there; it answers 410 from now on${also}`
    return { isDone: removed, says }
  })
}
