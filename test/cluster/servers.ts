/** Three servers on one S3 store and one Postgres, started once for all cases. */

import { type Answer, request } from '../support/http.ts'
import { type Cluster, s3Env, serviceOf, startCluster } from '../support/processes/cluster.ts'
import { type PostgresServer, startPostgres } from '../support/processes/postgres.ts'
import { type FakeS3, startFakeS3 } from '../support/s3/fake-s3.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const PREFIX = 'pictures/'

export let fake: FakeS3
export let storeProxy: TcpProxy
export let postgres: PostgresServer
export let cluster: Cluster
export let urls: string[]

export async function startAll(): Promise<void> {
  ;[fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  storeProxy = await startTcpProxy(fake.port)
  const service = { ...serviceOf(fake), endpoint: `http://127.0.0.1:${storeProxy.port}` }
  cluster = await startCluster({
    ...s3Env(service, PREFIX),
    LEDGER_URL: await postgres.createSchema(),
    LOG_LEVEL: 'error',
  })
  urls = cluster.servers.map((server) => server.url)
}

export async function stopAll(): Promise<void> {
  await cluster?.stop()
  await storeProxy?.close()
  await Promise.all([fake?.close(), postgres?.destroy()])
}

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
export const remainingOf = (answer: Answer) => Number(answer.headers.get('X-RateLimit-Remaining'))
/** Queried without storing an image: the body is not multipart. */
export const reservationsLeft = async (from: string) =>
  remainingOf(await request(urls[0]!, 'POST', '/api/upload', { headers: { 'X-Forwarded-For': from } }))
