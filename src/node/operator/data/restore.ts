/** operator restore */
import { Command } from 'commander'
import { parseConfig } from '../../../config.ts'
import { type RestoreResult, restore } from '../../backup/restore.ts'
import { createLog } from '../../log.ts'
import { OPERATOR } from '../../manifest.ts'
import { describeData } from '../../open/data-folder.ts'
import { readPlace } from '../arguments.ts'
import { giveToOwner } from '../ownership.ts'
import { bytesOf, createProgress, print } from '../print.ts'

export const restoreCommand = new Command('restore')
  .description('bring a backup back: onto an empty machine, or beside a ledger that is there and stays')
  .argument('<place>', 'the folder or s3://… that backups are in', readPlace)
  .option('--name <name>', 'of one of several backups (default: the newest)')
  .option('--without-tombstones', 'go on although the second place is lost too', false)
  .option('--keep-ledger', 'keep the ledger that is here, although it is not the backup’s or older', false)
  .option('--json', 'print the result as JSON', false)
  .action(async (from: string, { name, json, withoutTombstones, keepLedger }: RestoreOptions) => {
    const config = parseConfig(process.env)
    process.stderr.write(`${describeData(config).join('\n')}\n`)
    const progress = createProgress()
    const result = await restore({
      config,
      log: createLog(config.logLevel),
      from,
      name,
      withoutTombstones,
      keepLedger,
      onProgress: ({ copied, bytes }) => progress(() => `${copied} restored (${bytesOf(bytes)})`),
    }).finally(() => giveToOwner(config.dataDir, { images: true }))
    if (json) print(JSON.stringify(asJson(result)))
    else for (const line of linesOf(result)) print(line)
    const { missing, damagedFiles, transfer } = result
    process.exitCode = missing.length + transfer.damaged.length + damagedFiles.length === 0 ? 0 : 1
  })

interface RestoreOptions {
  name?: string
  json: boolean
  withoutTombstones: boolean
  keepLedger: boolean
}

function asJson({ manifest, transfer, gone, ...others }: RestoreResult): object {
  const { copied, kept, damaged, healed } = transfer
  return { ...manifest, copied, kept, healed, damaged, gone: gone.length, ...others }
}

function linesOf(result: RestoreResult): string[] {
  const { manifest, transfer, keptLedger, gone, missing, damagedFiles, unknownSince, isPrivate } = result
  const { copied, kept, damaged, healed } = transfer
  return [
    `restored ${copied} images of ${manifest.begunAt}, ${kept} were there`,
    keptLedger ? 'the ledger that was there stays' : 'restored the ledger',
    ...(gone.length > 0 ? [`${gone.length} images were deleted since, and stay so`] : []),
    ...healed.map((id) => `was damaged here, and is whole again: ${id}`),
    ...missing.map((id) => `missing in the backup: ${id}`),
    ...damaged.map((id) => `damaged, and there is no sound copy: ${id}`),
    ...damagedFiles.map((file) => `damaged file: ${file}`),
    ...(unknownSince === null
      ? []
      : [
          `not known: what was deleted or decided from ${unknownSince} until the disk was lost (nothing, if that was within a minute)`,
        ]),
    ...(isPrivate
      ? [
          'uploads are paused and images private. Look at what came back, remove what must not, and then:',
          `  ${OPERATOR} confirm-restore`,
        ]
      : []),
  ]
}
