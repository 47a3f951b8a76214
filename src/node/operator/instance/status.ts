/** operator status */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { lineOf } from './acts.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('what is stored, blocked and owed, and the newest acts')
    .action(() =>
      onData(async ({ takedown, settings }) => {
        const { images, removals, blocks, purgesOwed, held, acts } = await takedown.status()
        await settings.refresh()
        print(`images ${images}\nheld ${held}\nremovals ${removals}\nblocked digests ${blocks}`)
        print(`purges owed ${purgesOwed}\nuploads ${settings.current().uploads}`)
        for (const act of acts) print(lineOf(act))
        return 0
      }),
    )
}
