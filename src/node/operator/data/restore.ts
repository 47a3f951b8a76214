/** operator restore */
import { Command } from 'commander'
import { parseConfig } from '../../../config.ts'
import { restore } from '../../backup/restore.ts'
import { createLog } from '../../log.ts'
import { describeData } from '../../open/data-folder.ts'
import { giveToOwner } from '../ownership.ts'
import { readPlace } from './places.ts'
import { print } from '../print.ts'
import { bytesOf, createProgress } from './progress.ts'

export function restoreCommand(): Command {
  return new Command('restore')
    .description('bring a backup back: onto an empty machine, or beside a ledger that is there and stays')
    .argument('<place>', 'the folder or s3://… that backups are in', readPlace)
    .option('--name <name>', 'of one of several backups (default: the newest)')
    .option('--json', 'print the result as JSON', false)
    .action(async (from: string, { name, json }: { name?: string; json: boolean }) => {
      const config = parseConfig(process.env)
      process.stderr.write(`${describeData(config).join('\n')}\n`)
      const progress = createProgress()
      const { manifest, transfer, keptLedger, gone, missing } = await restore({
        config,
        log: createLog(config.logLevel),
        from,
        name,
        onProgress: ({ copied, bytes }) => progress(() => `${copied} restored (${bytesOf(bytes)})`),
      }).finally(() => giveToOwner(config.dataDir, { images: true }))
      const { copied, kept, damaged } = transfer
      if (json) {
        print(JSON.stringify({ ...manifest, copied, kept, keptLedger, gone: gone.length, missing, damaged }))
      } else {
        print(`restored ${copied} images of ${manifest.begunAt}, ${kept} were there`)
        print(keptLedger ? 'the ledger that was there stays' : 'restored the ledger')
        if (gone.length > 0) print(`${gone.length} images were deleted since, and stay so`)
        for (const id of missing) print(`missing in the backup: ${id}`)
        for (const id of damaged) print(`damaged in the backup: ${id}`)
      }
      process.exitCode = missing.length + damaged.length === 0 ? 0 : 1
    })
}
