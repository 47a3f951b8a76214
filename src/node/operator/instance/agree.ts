/** operator agree */
import { Command } from 'commander'
import { applyLedgerToStore } from '../../../service/recovery/reconcile.ts'
import { agree, assertNoServer, isOtherStore } from '../../open/agreement.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

export const agreeCommand = new Command('agree')
  .description('accept the current settings as those that all servers on the ledger must use')
  .action(
    onData(
      async ({ config, stores: { objects, ledger, agreement = {} } }) => {
        // Before the new store is served: it lacks deletions and decisions made since the last copy passed the images
        // concerned.
        if (await isOtherStore(ledger, agreement)) {
          if (config.ledgerUrl === null) await assertNoServer(ledger)
          const { removed, held } = await applyLedgerToStore(ledger, objects)
          print(`in the new store: ${removed} images removed, ${held} held, by the ledger`)
        }
        await agree(ledger, agreement)
        for (const [name, value] of Object.entries(agreement)) print(`${name}: ${value || 'none'}`)
      },
      { mayDisagree: true, writesImages: true },
    ),
  )
