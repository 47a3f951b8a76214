/** Drill: three servers behind nginx are restarted in turn under load. */
import { freePort, isInstalled, startNginxFront } from '../support/processes/caches.ts'
import { startBackends, startCluster } from '../support/processes/cluster.ts'
import type { Drill } from './drill.ts'
import { startLoad } from './load.ts'

export const rollingRestart: Drill = {
  name: 'rolling restart',
  story: 'Three servers on S3 and Postgres, behind the nginx configuration we ship, get SIGTERM in turn.',
  mayFail: false,
  skip: async () => ((await isInstalled('nginx')) ? null : 'nginx is not on this machine'),
  async run(rounds) {
    const backends = await startBackends({ ceph: false })
    const cluster = await startCluster({ ...(await backends.place()), UPLOADS_PER_DAY: '1000000' })
    const front = await startNginxFront(
      await freePort(),
      cluster.servers.map(({ port }) => port),
      ['127.0.0.1/32'],
    )
    const load = startLoad(() => [front.url], { size: () => 200 + Math.floor(Math.random() ** 4 * 100_000) })
    try {
      for (let round = 0; round < rounds; round++) {
        for (const server of cluster.servers) {
          await load.uploads(20)
          await server.restart({ PORT: `${server.port}` })
        }
      }
      await load.uploads(20)
      await load.stop()
      const tally = await load.check(front.url)
      return { ...tally, faults: [...tally.faults, ...load.errors()] }
    } finally {
      await load.stop()
      await front.stop()
      await cluster.stop()
      await backends.stop()
    }
  },
}
