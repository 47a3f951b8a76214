/** operator copy */
import { Command } from 'commander'
import { type Config, parseConfig } from '../../../config.ts'
import { pruneImages, transferImages, unexpired } from '../../../service/recovery/transfer.ts'
import type { ObjectStore } from '../../../stores/object-store.ts'
import { agreementOf, isOtherStore, isUnused } from '../../open/agreement.ts'
import { copyEvidence, openEvidenceFiles } from '../../open/files.ts'
import { assertFolder, dataFolderOf, openExistingLedger, openImages } from '../../open/stores.ts'
import { rateOption, readLocation } from '../arguments.ts'
import { keepOwnership } from '../ownership.ts'
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
  .action(async (options: CopyOptions) => {
    if (options.from === options.to) throw new Error('--from and --to are the same location')
    const config = parseConfig(process.env)
    await keepOwnership(dataFolderOf(options.to, config), { images: true }, () => copy(options, config))
  })

async function copy({ from: source, to: target, rate, prune, json }: CopyOptions, config: Config) {
  assertFolder(source, config)
  const from = await openImages(source, config)
  const to = await openImages(target, config)
  try {
    if (prune && (await isEmpty(from)))
      throw new Error('--from has no images, so --prune would remove everything in --to')
    if (prune && (await isInUse({ ...config, objectsUrl: target }, to.identity ?? null)))
      throw new Error('servers use --to, so --prune would remove what was uploaded to them')
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
  }
}

/** Whether the store is that of the servers on the configured ledger. `false` if there is no ledger. */
async function isInUse(config: Config, folder: string | null): Promise<boolean> {
  const ledger = await openExistingLedger(config)
  if (ledger === null) return false
  try {
    return !(await isUnused(ledger)) && !(await isOtherStore(ledger, agreementOf(config, folder)))
  } finally {
    await ledger.close()
  }
}

async function isEmpty(store: ObjectStore): Promise<boolean> {
  for await (const _ of store.list()) return false
  for await (const _ of store.listHeld()) return false
  return true
}
