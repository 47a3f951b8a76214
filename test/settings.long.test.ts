/** What the operator changes while servers run takes effect in every process, without a restart. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type Backends, type Cluster, startBackends, startCluster } from './support/processes/cluster.ts'
import { until } from './support/until.ts'
import { post, store } from './support/upload.ts'

let backends: Backends
let cluster: Cluster

before(async () => {
  backends = await startBackends({ ceph: false })
  cluster = await startCluster(await backends.place(), [{}, {}, {}])
})
after(async () => {
  await cluster?.stop()
  await backends?.stop()
})

async function operate(...words: string[]): Promise<void> {
  const ran = await cluster.servers[0]!.operator(words)
  assert.equal(ran.code, 0, ran.stderr)
}

it('pauses and resumes three servers, again and again', async () => {
  for (let round = 0; round < 2; round++) {
    await operate('pause', '--reason', 'bots')
    for (const { url } of cluster.servers) {
      await until('it is paused', async () => (await post(url, gif())).status === 503)
      const answer = await post(url, gif())
      assert.equal(answer.json().error, 'uploads-paused')
      assert.match((await request(url, 'GET', '/')).text, /paus/i, 'the page says so')
    }
    await operate('resume')
    for (const { url } of cluster.servers) {
      await until('it goes on', async () => (await post(url, gif())).status === 201)
      assert.equal((await request(url, 'GET', '/raw/AAAAAAAAAAA')).status, 404)
    }
  }
})

it('is as the ledger says from its first request on', async () => {
  await operate('pause')
  const server = cluster.servers[1]!
  await server.end()
  await server.restart()
  assert.equal((await post(server.url, gif())).status, 503)
  await operate('set', 'uploads')
  await until('it is as configured', async () => (await post(server.url, gif())).status === 201)
  await store(server.url)
})
