/** Drills with processes that are killed or suspended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isReady } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import type { Drill } from './drill.ts'
import { onOneServer } from './one-server.ts'

export const kill: Drill = {
  name: 'kill',
  story:
    'kill -9 of one process, and of a server with two workers, in turn under load, followed by a restart.',
  mayFail: true,
  run: (rounds) => {
    let kills = 0
    return onOneServer(rounds * 6, async (server) => {
      await sleep(Math.random() * 200)
      await server.kill()
      // Other runtimes than Node run a single process.
      const workers = process.env.PINHOLE_RUNTIME === undefined ? 1 + (++kills % 2) : 1
      await server.restart({ WORKERS: `${workers}` })
    })
  },
}

export const hang: Drill = {
  name: 'hang',
  story: 'The process is suspended for two seconds under load (SIGSTOP), and then continues.',
  mayFail: false,
  run: (rounds) =>
    onOneServer(rounds, async (server) => {
      process.kill(server.pid, 'SIGSTOP')
      await sleep(2000)
      process.kill(server.pid, 'SIGCONT')
      await until('the server answers', () => isReady(server.url))
    }),
}
