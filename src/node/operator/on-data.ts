/** Opens the data that a command works on. */
import { type Config, parseConfig } from '../../config.ts'
import { createTakedown } from '../../service/moderation/takedown.ts'
import { createSettings } from '../../service/settings.ts'
import { defaultSettings } from '../../wiring/settings.ts'
import { createLog } from '../log.ts'
import { describeData } from '../open/data-folder.ts'
import { openEvidence } from '../open/files.ts'
import { openStores } from '../open/stores.ts'
import type { OperatorData } from './operator-data.ts'
import { giveToOwner } from './ownership.ts'
import { remoteData, SERVER_VARIABLE } from './remote.ts'

/** Runs `work` on the data that the environment names, and closes it. What `work` returns is the exit code. */
export async function onData(
  work: (data: OperatorData) => Promise<number>,
  {
    writesImages = false,
    ...options
  }: { mayDisagree?: boolean; isRestoring?: boolean; writesImages?: boolean } = {},
): Promise<void> {
  const server = process.env[SERVER_VARIABLE]
  if (server) {
    process.exitCode = await work(remoteData(server, process.env.OPERATOR_TOKEN))
    return
  }
  const config = parseConfig(process.env)
  // Not with what the command prints, which programs may read.
  process.stderr.write(`${describeData(config).join('\n')}\n`)
  try {
    await onStores(config, work, options)
  } finally {
    giveToOwner(config.dataDir, { images: writesImages })
  }
}

async function onStores(
  config: Config,
  work: (data: OperatorData) => Promise<number>,
  options: { mayDisagree?: boolean; isRestoring?: boolean },
): Promise<void> {
  const stores = await openStores(config, createLog(config.logLevel), { as: 'command', ...options })
  try {
    process.exitCode = await work({
      config,
      stores,
      takedown: createTakedown({
        ...stores,
        now: stores.clock.now,
        evidence: await openEvidence(config, stores),
      }),
      settings: createSettings({
        ledger: stores.ledger,
        defaults: defaultSettings(config),
        now: stores.clock.now,
        onFailure: () => {},
      }),
    })
  } finally {
    await stores.close()
  }
}
