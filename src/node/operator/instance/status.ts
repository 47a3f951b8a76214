/** operator status */
import { Command } from 'commander'
import { withoutQuery } from '../../open/tombstones.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { lineOf } from './acts.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('what is stored, blocked and owed, and the newest acts')
    .action(() =>
      onData(async ({ config, stores, takedown, settings }) => {
        const { images, removals, blocks, purgesOwed, held, acts } = await takedown.status()
        await settings.refresh()
        print(`images ${images}\nheld ${held}\nremovals ${removals}\nblocked digests ${blocks}`)
        print(`purges owed ${purgesOwed}\nuploads ${settings.current().uploads}`)
        const waiting = await stores.tombstones.owed()
        print(
          waiting === null
            ? 'second place none: a restore brings back what was deleted after its backup'
            : `second place ${withoutQuery(config.tombstonesUrl!)}, ${waiting.count} behind`,
        )
        if (settings.current().images === 'private') {
          print('images private, until: npm run operator -- confirm-restore')
        }
        for (const act of acts) print(lineOf(act))
        return 0
      }),
    )
}
