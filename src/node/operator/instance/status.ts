/** operator status */
import { Command } from 'commander'
import { OPERATOR } from '../../manifest.ts'
import { withoutQuery } from '../../open/tombstones.ts'
import { countStored } from '../data/list.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { lineOf } from './audit.ts'

const SHOWN_ACTS = 20

export const statusCommand = new Command('status')
  .description('what is stored, blocked and queued, and the newest entries of the audit log')
  .action(
    onData(async (data) => {
      const { config, stores, settings } = data
      const images = await countStored(data, (count) => `${count} images so far`)
      const { removals, blocks, pendingPurges, held } = await stores.ledger.counts()
      await settings.refresh()
      print(`images ${images}\nheld ${held}\nremovals ${removals}\nblocked digests ${blocks}`)
      print(`purges owed ${pendingPurges}\nuploads ${settings.current().uploads}`)
      if (stores.tombstones !== undefined) {
        const waiting = await stores.tombstones.pending()
        print(
          waiting === null
            ? 'second place none: a restore brings back what was deleted after its backup'
            : `second place ${withoutQuery(config.tombstonesUrl!)}, ${waiting.count} behind`,
        )
      }
      if (settings.current().images === 'private') {
        print(`images private, until: ${OPERATOR} confirm-restore`)
      }
      for (const act of await stores.ledger.auditLog(SHOWN_ACTS)) print(lineOf(act))
    }),
  )
