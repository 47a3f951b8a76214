/** operator restore */
import { Command } from 'commander'
import { parseConfig } from '../../../config.ts'
import { type RestoreResult, restore } from '../../backup/restore.ts'
import { createLog } from '../../log.ts'
import { OPERATOR } from '../../manifest.ts'
import { describeData } from '../../open/data-folder.ts'
import { readLocation } from '../arguments.ts'
import { keepOwnership } from '../ownership.ts'
import { createProgress, formatBytes, print } from '../print.ts'

export const restoreCommand = new Command('restore')
  .description('restore a backup, to an empty machine or next to an existing ledger, which is kept')
  .argument('<location>', 'the folder or s3://… that holds the backups', readLocation)
  .option('--name <name>', 'which backup to restore (default: the newest)')
  .option('--without-tombstones', 'continue although the tombstones in TOMBSTONES_URL are lost too', false)
  .option(
    '--keep-ledger',
    'keep the existing ledger, even if it is older than the backup’s or a different one',
    false,
  )
  .option('--json', 'print the result as JSON', false)
  .action(async (from: string, { name, json, withoutTombstones, keepLedger }: RestoreOptions) => {
    const config = parseConfig(process.env)
    process.stderr.write(`${describeData(config).join('\n')}\n`)
    const progress = createProgress()
    const result = await keepOwnership(config.dataDir, { images: true }, () =>
      restore({
        config,
        log: createLog(config.logLevel),
        from,
        name,
        withoutTombstones,
        keepLedger,
        onProgress: ({ copied, bytes }) => progress(() => `${copied} restored (${formatBytes(bytes)})`),
      }),
    )
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
    `restored ${copied} images of ${manifest.begunAt}, ${kept} already there`,
    keptLedger ? 'kept the existing ledger' : 'restored the ledger',
    ...(gone.length > 0 ? [`${gone.length} images were deleted since the backup and stay deleted`] : []),
    ...healed.map((id) => `repaired from the backup: ${id}`),
    ...missing.map((id) => `missing in the backup: ${id}`),
    ...damaged.map((id) => `damaged, and no intact copy exists: ${id}`),
    ...damagedFiles.map((file) => `damaged file: ${file}`),
    ...(unknownSince === null
      ? []
      : [
          `unknown: deletions and decisions from ${unknownSince} until the disk was lost (none, if that was within a minute)`,
        ]),
    ...(isPrivate
      ? [
          'uploads are paused and images are private. Review the restored images, remove what should be gone, then run:',
          `  ${OPERATOR} confirm-restore`,
        ]
      : []),
  ]
}
