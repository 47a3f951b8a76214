/** operator block */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readDigests, reasonOption } from '../subjects.ts'
import { actedBy } from './by.ts'

export function blockCommand(): Command {
  return new Command('block')
    .description('refuse uploads with these bytes, by their digest as sent or as stored')
    .argument('<sha256...>', 'digests in hex', readDigests)
    .addOption(reasonOption())
    .action((digests: string[], { reason }: { reason: string }) =>
      onData(async ({ takedown }) => {
        for (const digest of digests) {
          await takedown.block(digest, reason, actedBy())
          print(`blocked ${digest}`)
        }
        return 0
      }),
    )
}
