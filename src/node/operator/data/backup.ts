/** operator backup */
import { Command } from 'commander'
import { backUp } from '../../backup/backup.ts'
import { rateOption, readPlace } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { bytesOf, createProgress, print } from '../print.ts'

export const backupCommand = new Command('backup')
  .description('copy new images and the ledger, while servers go on')
  .argument(
    '<place>',
    'a folder, or s3://…: the same one each time, so that only new images are copied',
    readPlace,
  )
  .addOption(rateOption())
  .option('--json', 'print the result as JSON', false)
  .action(
    onData(async ({ config, stores }, to: string, { rate, json }: { rate?: number; json: boolean }) => {
      const progress = createProgress()
      const { name, manifest, transfer, removed } = await backUp({
        config,
        stores,
        to,
        bytesPerSecond: rate ?? null,
        onProgress: ({ copied, kept, bytes }) =>
          progress(() => `${copied} copied (${bytesOf(bytes)}), ${kept} there already`),
      })
      const { copied, kept, bytes, damaged } = transfer
      if (json) print(JSON.stringify({ name, ...manifest, copied, kept, bytes, removed, damaged }))
      else {
        print(
          `backup ${name}: ${manifest.images} images, ${copied} new (${bytesOf(bytes)}), ${removed} removed`,
        )
        for (const id of damaged) print(`damaged, and not copied: ${id}`)
      }
      return damaged.length === 0 ? 0 : 1
    }),
  )
