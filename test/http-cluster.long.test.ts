/** The HTTP contract on three servers over S3 and Postgres, behind nginx. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { httpContract } from './contracts/http.ts'
import { newFolder } from './support/folder.ts'
import { freePort, hasNginx, startNginxFront } from './support/processes/caches.ts'
import { PROCESSES, startBackends, startCluster } from './support/processes/cluster.ts'
import { linksTo } from './support/processes/links.ts'
import { startTcpProxy } from './support/tcp-proxy.ts'

/** Proxies that the contract's main host trusts. */
const PROXIES = ['127.0.0.1/32', '10.0.0.0/8', '2001:db8:ffff::/48']

const backends = await startBackends({ ceph: true })
after(() => backends.stop())

const front = hasNginx ? 'nginx' : 'a round robin of the test’s own, as there is no nginx'

httpContract(`${PROCESSES} servers behind ${front}, S3 and Postgres`, async (env = {}) => {
  const port = await freePort()
  const folder = await newFolder()
  const links = await linksTo(await backends.place(), env)
  const settings = { BASE_URL: `http://127.0.0.1:${port}`, ...env, ...links.place }
  const cluster = await startCluster(
    settings,
    Array.from({ length: PROCESSES }, (_, i) => ({ dataDir: join(folder, `server-${i}`) })),
  )
  const { servers } = cluster
  const ports = servers.map((server) => server.port)
  const stopFront = hasNginx
    ? (await startNginxFront(port, ports, PROXIES)).stop
    : (await startTcpProxy(ports, { port })).close
  return {
    url: `http://127.0.0.1:${port}`,
    baseUrl: settings.BASE_URL,
    clientHeader: 'X-Forwarded-For',
    direct: !hasNginx,
    servers: PROCESSES,
    dataDir: folder,
    logs: () => servers.map((server) => server.stdout() + server.stderr()).join('\n'),
    operator: (words) => servers[0]!.operator(words),
    breakDown: links.cut,
    async stop() {
      await stopFront()
      await cluster.stop().finally(links.cut)
      await rm(folder, { recursive: true, force: true })
    },
  }
})
