/** Opens the data that a command works on. */
import { parseConfig } from '../../config.ts'
import { createAdminSessions } from '../../service/admin-sessions.ts'
import { createTakedown } from '../../service/moderation/takedown.ts'
import { createSettings } from '../../service/settings.ts'
import { defaultSettings } from '../../wiring/settings.ts'
import { nodeHashes } from '../hashes.ts'
import { createLog } from '../log.ts'
import { describeData } from '../open/data-folder.ts'
import { openEvidence } from '../open/files.ts'
import { openStores } from '../open/stores.ts'
import type { OperatorData } from './operator-data.ts'
import { keepOwnership } from './ownership.ts'
import { remoteData, SERVER_VARIABLE } from './remote.ts'

/**
 * Wraps a command's action: opens the data that the environment selects, runs `work`, and closes the data. `work` returns
 * the exit code, or nothing for 0.
 */
export function onData<Args extends unknown[]>(
  work: (data: OperatorData, ...args: Args) => Promise<number | undefined>,
  {
    writesImages = false,
    ...options
  }: { mayDisagree?: boolean; isRestoring?: boolean; writesImages?: boolean } = {},
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const server = process.env[SERVER_VARIABLE]
    if (server) {
      process.exitCode = await work(remoteData(server, process.env.OPERATOR_TOKEN), ...args)
      return
    }
    const config = parseConfig(process.env)
    // On standard error, because programs may read the command's standard output.
    process.stderr.write(`${describeData(config).join('\n')}\n`)
    await keepOwnership(config.dataDir, { images: writesImages }, async () => {
      const stores = await openStores(config, createLog(config.logLevel), { as: 'command', ...options })
      const { ledger, clock } = stores
      try {
        const takedown = createTakedown({
          ...stores,
          now: clock.now,
          evidence: await openEvidence(config, stores),
        })
        const settings = createSettings({
          ledger,
          defaults: defaultSettings(config),
          now: clock.now,
          onFailure: () => {},
        })
        const sessions = createAdminSessions({
          ledger,
          hashes: nodeHashes,
          now: clock.now,
          programToken: null,
        })
        process.exitCode = await work({ config, stores, takedown, settings, sessions }, ...args)
      } finally {
        await stores.close()
      }
    })
  }
}
