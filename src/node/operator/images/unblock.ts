/** operator unblock */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readDigests, reasonOption } from '../subjects.ts'
import { actedBy } from './by.ts'

export function unblockCommand(): Command {
  return new Command('unblock')
    .description('accept these bytes again')
    .argument('<sha256...>', 'digests in hex', readDigests)
    .addOption(reasonOption())
    .action((digests: string[], { reason }: { reason: string }) =>
      onData(async ({ takedown }) => {
        let missed = 0
        for (const digest of digests) {
          const wasBlocked = await takedown.unblock(digest, reason, actedBy())
          if (!wasBlocked) missed++
          print(wasBlocked ? `unblocked ${digest}` : `${digest} was not blocked`)
        }
        return missed === 0 ? 0 : 1
      }),
    )
}
