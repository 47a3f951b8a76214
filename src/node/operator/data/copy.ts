/** operator copy */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Config, parseConfig } from '../../../config.ts'
import { pruneImages, transferImages, unexpired } from '../../../service/recovery/transfer.ts'
import type { ObjectStore } from '../../../stores/object-store.ts'
import { copyEvidence, openEvidenceFiles } from '../../open/files.ts'
import { dataFolderOf, openImages } from '../../open/stores.ts'
import { rateOption, readLocation } from '../arguments.ts'
import { restoreOwnership } from '../ownership.ts'
import { createProgress, formatBytes, print } from '../print.ts'

interface CopyOptions {
  from: string
  to: string
  rate?: number
  prune: boolean
  json: boolean
}

const STEPS = `
Servers can keep running. To move to another store: copy, stop the servers, copy again with --prune, run
\`operator agree\` with the new OBJECTS_URL, and start the servers with it.`

export const copyCommand = new Command('copy')
  .description('copy images and sealed evidence from one store to another')
  .requiredOption('--from <location>', 'a data folder or s3://…', readLocation)
  .requiredOption('--to <location>', 'a data folder or s3://…', readLocation)
  .addOption(rateOption())
  .option('--prune', 'remove from the target what the source no longer has; for the final pass', false)
  .option('--json', 'print the result as JSON', false)
  .addHelpText('after', STEPS)
  .action(async ({ from: source, to: target, rate, prune, json }: CopyOptions) => {
    if (source === target) throw new Error('--from and --to are the same location')
    const config = parseConfig(process.env)
    assertFolder(source, config)
    const from = await openImages(source, config)
    const to = await openImages(target, config)
    try {
      if (prune && (await isEmpty(from)))
        throw new Error('--from has no images, so --prune would remove everything in --to')
      const progress = createProgress()
      const { copied, bytes, kept, damaged } = await transferImages({
        from: unexpired(from, Date.now),
        to,
        bytesPerSecond: rate ?? null,
        onProgress: (now) =>
          progress(() => `${now.copied} copied (${formatBytes(now.bytes)}), ${now.kept} already there`),
      })
      await copyEvidence(await openEvidenceFiles(config, source), await openEvidenceFiles(config, target))
      const pruned = prune ? await pruneImages(from, to) : 0
      if (json) print(JSON.stringify({ copied, bytes, kept, pruned, damaged }))
      else {
        print(`copied ${copied} images (${formatBytes(bytes)}), ${kept} already there, ${pruned} pruned`)
        for (const id of damaged) print(`damaged, not copied: ${id}`)
      }
      process.exitCode = damaged.length === 0 ? 0 : 1
    } finally {
      await to.close()
      await from.close()
      const folder = dataFolderOf(target, config)
      if (folder !== null) restoreOwnership(folder, { images: true })
    }
  })

/** Opening a missing folder would create it, empty. */
function assertFolder(source: string, config: Config): void {
  const folder = dataFolderOf(source, config)
  if (folder === null) return
  const images = join(folder, 'images')
  if (!existsSync(images)) throw new Error(`--from is not a data folder: there is no ${images}`)
}

async function isEmpty(store: ObjectStore): Promise<boolean> {
  for await (const _ of store.list()) return false
  for await (const _ of store.listHeld()) return false
  return true
}
