/** operator hold */
import { Command } from 'commander'
import { actedBy } from '../subjects.ts'
import { onSubjects } from './related.ts'

export function holdCommand(): Command {
  const command = new Command('hold').description(
    'take images out of sight: they answer 403, and nobody can upload the same bytes, until they are released',
  )
  return onSubjects(command, async (takedown, id, options) => {
    const isDone = await takedown.hold(id, options.reason, actedBy(options))
    return { isDone, says: isDone ? `held ${id}` : `${id} was not there to be held` }
  })
}
