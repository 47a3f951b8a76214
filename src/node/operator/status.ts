/** operator status */
import { Command } from 'commander'
import { onData } from './data.ts'
import { print } from './print.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('what is stored, blocked and owed, and the newest acts')
    .action(() =>
      onData(async ({ takedown }) => {
        const { images, removals, blocks, purgesOwed, acts } = await takedown.status()
        print(`images ${images}\nremovals ${removals}\nblocked digests ${blocks}\npurges owed ${purgesOwed}`)
        for (const { at, act, subject, reason } of acts)
          print(`${at} ${act} ${subject} ${JSON.stringify(reason)}`)
        return 0
      }),
    )
}
