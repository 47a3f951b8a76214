/** Runs a drill against one server under load. */
import type { Env } from '../support/processes/process.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import type { Tally } from './drill.ts'
import { type Load, startLoad } from './load.ts'

export interface Scene {
  server: RunningServer
  load: Load
  faults: string[]
}

export async function onOneServer(
  rounds: number,
  runRound: (scene: Scene) => Promise<void>,
  options: { env?: Env; nodeArguments?: string[] } = {},
): Promise<Tally> {
  const env = { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn', ...options.env }
  const server = await startServer(env, { nodeArguments: options.nodeArguments ?? [] })
  const load = startLoad(() => [server.url])
  const faults: string[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      await load.uploads(30)
      await runRound({ server, load, faults })
    }
    await load.uploads(10)
    await load.stop()
    const tally = await load.check(server.url)
    // Again after a restart, so that cached images are read from disk too.
    await server.restart()
    const fromDisk = await load.check(server.url)
    return {
      ...tally,
      lost: Math.max(tally.lost, fromDisk.lost),
      risen: Math.max(tally.risen, fromDisk.risen),
      faults: [...tally.faults, ...fromDisk.faults, ...faults],
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}
