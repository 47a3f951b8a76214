/** operator agree */
import { Command } from 'commander'
import { agree } from '../../open/agreement.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'

export function agreeCommand(): Command {
  return new Command('agree')
    .description('make the settings given here those of all servers on the ledger from now on')
    .action(() =>
      onData(
        async ({ stores: { ledger, settings = {} } }) => {
          await agree(ledger, settings)
          for (const [name, value] of Object.entries(settings)) print(`${name}: ${value || 'none'}`)
          return 0
        },
        { mayDisagree: true },
      ),
    )
}
