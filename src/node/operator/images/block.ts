/** operator block and unblock */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { actedBy, readDigests, reasonOption } from '../subjects.ts'

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
