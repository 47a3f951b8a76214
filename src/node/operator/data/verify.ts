/** operator verify */
import { join } from 'node:path'
import { Command } from 'commander'
import type { Expiry } from '../../../stores/expiries.ts'
import { abandonRestore } from '../../backup/restored-ledger.ts'
import { assertFolder, openImages } from '../../open/stores.ts'
import { checkImages, type Finding, type Verified } from '../../verify/check.ts'
import { NO_COPY, repair } from '../../verify/repair.ts'
import { rateOption, readLocation } from '../arguments.ts'
import { onData } from '../on-data.ts'
import type { OperatorData } from '../operator-data.ts'
import { createProgress, formatBytes, print } from '../print.ts'

interface VerifyOptions {
  repair: boolean
  rate?: number
  json: boolean
  from?: string
}

export const verifyCommand = new Command('verify')
  .description(
    'check every image against its record; find stray files, and images that should be gone or held',
  )
  .option(
    '--repair',
    'hold damaged images and those that should be held, remove what should be gone, quarantine the rest',
    false,
  )
  .option(
    '--from <location>',
    'with --repair: restore damaged images from the backup at this location',
    readLocation,
  )
  .addOption(rateOption())
  .option('--json', 'print findings as JSON lines', false)
  .action((options: VerifyOptions) => {
    if (options.from !== undefined && !options.repair) {
      process.stderr.write('--from needs --repair\n')
      process.exitCode = 2
      return
    }
    return onData(verify, { isRestoring: options.repair, writesImages: options.repair })(options)
  })

async function verify({ config, stores, takedown }: OperatorData, options: VerifyOptions): Promise<number> {
  const { objects, ledger, purges } = stores
  const folder = config.objectsUrl === null ? join(config.dataDir, 'images') : null
  const progress = createProgress()
  const startedAt = performance.now()
  let verified: Verified = { images: 0, bytes: 0 }
  let count = 0
  let unhealed = 0
  if (options.from !== undefined) assertFolder(options.from, config)
  const backup = options.from === undefined ? null : await openImages(options.from, config)
  const found = checkImages({
    objects,
    ledger,
    folder,
    bytesPerSecond: options.rate ?? null,
    // A ledger older than the images lacks their expiries.
    ...(options.repair && { onExpiring: (expiry: Expiry) => ledger.recordExpiries([expiry]) }),
    onProgress(now) {
      verified = now
      progress(() => `${now.images} images, ${formatBytes(now.bytes)}`)
    },
  })
  for await (const finding of found) {
    count++
    const outcome = options.repair
      ? await repair(finding, { objects, ledger, purges: purges!, takedown, folder, backup })
      : null
    if (outcome === NO_COPY) unhealed++
    print(
      options.json
        ? JSON.stringify({ ...finding, ...(outcome ? { done: outcome } : {}) })
        : lineOf(finding, outcome),
    )
  }
  const { images, bytes } = verified
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  await backup?.close()
  // Everything that the ledger lists as gone has been removed by now.
  if (options.repair) await abandonRestore(config.dataDir, ledger)
  const outcome = count === 0 ? 'all is well' : count === 1 ? '1 finding' : `${count} findings`
  print(
    options.json
      ? JSON.stringify({ kind: 'summary', images, bytes, found: count, seconds })
      : `${images} images, ${formatBytes(bytes)}, in ${seconds} s: ${outcome}`,
  )
  return count === 0 || (options.repair && unhealed === 0) ? 0 : 1
}

function lineOf(finding: Finding, outcome: string | null): string {
  const subject = 'id' in finding ? finding.id : finding.path
  return `${finding.kind} ${subject}${outcome === null ? '' : `: ${outcome}`}`
}
