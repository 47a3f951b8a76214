/** Three servers on one S3 store and one Postgres, started once for all cases. */
import { after } from 'node:test'
import { type Answer, request } from '../support/http.ts'
import { s3Env, startCluster } from '../support/processes/cluster.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

export const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
export const storeProxy = await startTcpProxy(fake.port)
export const cluster = await startCluster({
  ...s3Env({ ...fake, endpoint: `http://127.0.0.1:${storeProxy.port}` }, 'pictures/'),
  LEDGER_URL: await postgres.createSchema(),
  LOG_LEVEL: 'error',
})
export const urls = cluster.servers.map((server) => server.url)

after(async () => {
  await cluster.stop()
  await storeProxy.close()
  await Promise.all([fake.close(), postgres.destroy()])
})

export const everywhere = (send: (url: string) => Promise<Answer>) => Promise.all(urls.map(send))
export const page = (url: string, id: string) => request(url, 'GET', `/${id}`)
export const ready = (url: string) => request(url, 'GET', '/readyz')

/** Waits, because a success is cached for a while. */
export async function untilReadyzSays(status: Record<string, string>): Promise<void> {
  const expected = JSON.stringify(status)
  await until(`/readyz says ${expected} everywhere`, async () =>
    (await everywhere(ready)).every((answer) => answer.text === expected),
  )
}
