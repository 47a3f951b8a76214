/** operator agree */
import { Command } from 'commander'
import { bringStoreUp } from '../../../service/recovery/reconcile.ts'
import { agree, isOtherStore } from '../../open/agreement.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

export const agreeCommand = new Command('agree')
  .description('make the settings given here those of all servers on the ledger from now on')
  .action(
    onData(
      async ({ stores: { objects, ledger, settings = {} } }) => {
        // Before anybody is shown it: what was deleted or decided after the last pass went by is not in the copy.
        if (await isOtherStore(ledger, settings)) {
          const { removed, held } = await bringStoreUp(ledger, objects)
          print(`in the new store: ${removed} images removed, ${held} held, by the ledger`)
        }
        await agree(ledger, settings)
        for (const [name, value] of Object.entries(settings)) print(`${name}: ${value || 'none'}`)
      },
      { mayDisagree: true, writesImages: true },
    ),
  )
