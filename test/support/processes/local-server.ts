/** The server in the test's own process, with configurable limits and clock. */

import { rm } from 'node:fs/promises'
import { parseConfig } from '../../../src/config.ts'
import type { Limits } from '../../../src/node/http/limits.ts'
import { createLog } from '../../../src/node/log.ts'
import { startServer } from '../../../src/node/server.ts'
import { newFolder } from '../folder.ts'
import type { Env } from './process.ts'
import { serverEnv } from './server.ts'

export interface LocalServer {
  url: string
  dataDir: string
  stop(): Promise<void>
}

/** `sharedDataDir`: the data folder of another server, which removes it. */
export async function startLocalServer(
  env: Env,
  options: { limits?: Partial<Limits>; now?: () => number },
  sharedDataDir?: string,
): Promise<LocalServer> {
  const dataDir = sharedDataDir ?? (await newFolder())
  const config = parseConfig(serverEnv(env, dataDir))
  const server = await startServer(config, createLog('silent'), options)
  return {
    url: `http://127.0.0.1:${server.port}`,
    dataDir,
    async stop() {
      await server.stop()
      if (sharedDataDir === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}
