/** operator status */
import { Command } from 'commander'
import { OPERATOR } from '../../manifest.ts'
import { withoutQuery } from '../../open/tombstones.ts'
import { countStored } from '../data/list.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { lineOf } from './audit.ts'

const SHOWN_ENTRIES = 20

export const statusCommand = new Command('status')
  .description('show counts of stored, held and blocked images, and the newest audit log entries')
  .action(
    onData(async (data) => {
      const { config, stores, settings } = data
      const images = await countStored(data, (count) => `${count} images so far`)
      const { removals, blocks, pendingPurges, held } = await stores.ledger.counts()
      await settings.refresh()
      print(`images ${images}\nheld ${held}\nremovals ${removals}\nblocked digests ${blocks}`)
      print(`purges pending ${pendingPurges}\nuploads ${settings.current().uploads}`)
      if (stores.tombstones !== undefined) {
        const pending = await stores.tombstones.pending()
        print(
          pending === null
            ? 'tombstones none: a restore would bring back images deleted after its backup'
            : `tombstones in ${withoutQuery(config.tombstonesUrl!)}, ${pending.count} pending`,
        )
      }
      if (settings.current().images === 'private') {
        print(`images private; to show them: ${OPERATOR} confirm-restore`)
      }
      for (const entry of await stores.ledger.auditLog(SHOWN_ENTRIES)) print(lineOf(entry))
    }),
  )
