/** A server of its own data folder, with a load, that something is done to, round by round. */
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
  act: (scene: Scene) => Promise<void>,
  options: { env?: Env; nodeArguments?: string[] } = {},
): Promise<Tally> {
  const env = { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn', ...options.env }
  const server = await startServer(env, { nodeArguments: options.nodeArguments ?? [] })
  const load = startLoad(() => [server.url])
  const faults: string[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      await load.uploads(30)
      await act({ server, load, faults })
    }
    await load.uploads(10)
    await load.stop()
    const tally = await load.check(server.url)
    // What was in memory is read from the disk too.
    await server.restart()
    const again = await load.check(server.url)
    return {
      ...tally,
      lost: Math.max(tally.lost, again.lost),
      risen: Math.max(tally.risen, again.risen),
      faults: [...tally.faults, ...again.faults, ...faults],
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}
