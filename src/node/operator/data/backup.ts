/** operator backup */
import { Command } from 'commander'
import { backUp } from '../../backup/backup.ts'
import { isOnDisk } from '../../open/data-folder.ts'
import { dataFolderOf } from '../../open/stores.ts'
import { rateOption, readLocation } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { createProgress, formatBytes, print } from '../print.ts'

export const backupCommand = new Command('backup')
  .description('back up new images and the ledger, while servers keep running')
  .argument(
    '<location>',
    'a folder or s3://…; use the same one each time, so that only new images are copied',
    readLocation,
  )
  .addOption(rateOption())
  .option('--json', 'print the result as JSON', false)
  .action(
    onData(async ({ config, stores }, to: string, { rate, json }: { rate?: number; json: boolean }) => {
      const folder = dataFolderOf(to, config)
      // The disk for it may not be mounted.
      if (folder !== null && (await isOnDisk(folder, config)))
        process.stderr.write('The backup is on the disk of DATA_DIR: both would be lost together.\n')
      const progress = createProgress()
      const { name, manifest, transfer, removed } = await backUp({
        config,
        stores,
        to,
        bytesPerSecond: rate ?? null,
        onProgress: ({ copied, kept, bytes }) =>
          progress(() => `${copied} copied (${formatBytes(bytes)}), ${kept} already there`),
      })
      const { copied, kept, bytes, damaged } = transfer
      if (json) print(JSON.stringify({ name, ...manifest, copied, kept, bytes, removed, damaged }))
      else {
        print(
          `backup ${name}: ${manifest.images} images, ${copied} new (${formatBytes(bytes)}), ${removed} removed`,
        )
        for (const id of damaged) print(`damaged, not copied: ${id}`)
      }
      return damaged.length === 0 ? 0 : 1
    }),
  )
