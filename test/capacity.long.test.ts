/** Limits of the instance, and run-time changes by the operator, with three servers on one ledger. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type Backends, type Cluster, startBackends, startCluster } from './support/processes/cluster.ts'
import { startFakeProvider } from './support/processes/fake-provider.ts'
import { serverFor } from './support/processes/server.ts'
import { converse } from './support/socket.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, store } from './support/upload.ts'

let backends: Backends
let addresses = 0
const newAddress = () => `198.51.${++addresses >> 8}.${addresses & 255}`

before(async () => {
  backends = await startBackends({ ceph: false })
})
after(() => backends?.stop())

async function withCluster(env: Record<string, string>, run: (cluster: Cluster) => Promise<void>) {
  const cluster = await startCluster({ ...(await backends.place()), ...env }, [{}, {}, {}])
  try {
    await run(cluster)
  } finally {
    await cluster.stop()
  }
}

/** Sends concurrent uploads, each from a different address, and counts the responses by outcome. */
async function bots({ servers }: Cluster, count: number): Promise<Record<string, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => post(servers[index % 3]!.url, gif(), newAddress())),
  )
  const seen: Record<string, number> = {}
  for (const answer of answers) {
    const name = answer.status === 201 ? 'stored' : answer.json().error
    seen[name] = (seen[name] ?? 0) + 1
  }
  return seen
}

describe('uploads in flight', () => {
  it('do not count against the daily limits: 112 silent uploads of 25 MB from 7 addresses', async () => {
    await withCluster({ DAILY_BYTES: '30000000', DAILY_UPLOADS: '20' }, async ({ servers }) => {
      const { url } = servers[0]!
      const silent = await Promise.all(
        Array.from({ length: 112 }, async (_, index) => {
          const talk = await converse(url, 60_000)
          await talk.write(
            `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.${index % 7}\r\n` +
              'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 26000000\r\n\r\n',
          )
          return talk
        }),
      )
      for (const server of servers) await store(server.url, gif({ size: 50_000 }), newAddress())
      const { stdout } = await servers[0]!.operator(['audit', '--json'])
      assert.equal(stdout.trim(), '')
      for (const talk of silent) talk.close()
    })
  })
})

describe('daily limits changed at run time', () => {
  it('take effect on all servers', async () => {
    await withCluster({}, async (cluster) => {
      const [first] = cluster.servers
      const set = async (value: string) => {
        const ran = await first!.operator(['set', 'daily-uploads', value, '--reason', 'a test'])
        assert.equal(ran.code, 0, ran.stderr)
      }
      assert.deepEqual(await bots(cluster, 9), { stored: 9 })
      await set('5')
      for (const { url } of cluster.servers) {
        await until(
          'the limit is known',
          async () => (await post(url, Buffer.from('x'), newAddress())).status === 415,
        )
      }
      await until('the limit is reached', async () => 'capacity-reached' in (await bots(cluster, 3)))
      await set('0')
      for (const { url } of cluster.servers) {
        await until('the limit is gone', async () => (await post(url, gif(), newAddress())).status === 201)
      }
    })
  })

  it('pause uploads when reached for the second time, with one notice each', async () => {
    const receiver = await startFakeProvider()
    receiver.answer({ status: 200 })
    const caps = { DAILY_UPLOADS: '3', DAILY_BYTES: '2000', NOTIFY: `ntfy://${receiver.host}/ops?tls=off` }
    try {
      await withCluster(caps, async (cluster) => {
        const [first] = cluster.servers
        // The second upload does not fit; smaller ones still do.
        for (const status of [201, 503]) {
          assert.equal((await post(first!.url, gif({ size: 1800 }), newAddress())).status, status)
        }
        await until('both limits are reached and uploads paused', async () => {
          return 'uploads-paused' in (await bots(cluster, 3))
        })
        const { stdout } = await first!.operator(['audit', '--json'])
        const act = JSON.parse(stdout.trim().split('\n')[0]!)
        assert.deepEqual([act.act, act.subject, act.who], ['set', 'uploads=paused', 'pinhole'])
        await until('both notices are delivered', () => receiver.asked.length >= 2)
        const titles = receiver.asked.map(({ body }) => JSON.parse(body).title).sort()
        assert.deepEqual(titles, ['Pinhole: Daily limit reached', 'Pinhole: Uploads are paused'])
      })
    } finally {
      await receiver.stop()
    }
  })
})

describe('pausing at run time', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster(await backends.place(), [{}, {}, {}])
  })
  after(() => cluster?.stop())

  async function operate(...words: string[]): Promise<void> {
    const ran = await cluster.servers[0]!.operator(words)
    assert.equal(ran.code, 0, ran.stderr)
  }

  it('applies from the first request after a restart', async () => {
    await operate('pause')
    const server = cluster.servers[1]!
    await server.end()
    await server.restart()
    assert.equal((await post(server.url, gif())).status, 503)
    await operate('set', 'uploads')
    await until('the configured value applies', async () => (await post(server.url, gif())).status === 201)
    await store(server.url)
  })
})

it('uploads that were paused and resumed by command are paused by UPLOADS; a changed setting is logged at the start', async (t) => {
  const server = await serverFor(t, { LOG_LEVEL: 'warn' })
  const operate = async (...words: string[]) => assert.equal((await server.operator(words)).code, 0)
  await operate('pause')
  await operate('resume')
  await operate('set', 'daily-uploads', '5')
  await server.restart({ LOG_LEVEL: 'warn', UPLOADS: 'paused' })
  assert.equal((await post(server.url, gif())).json().error, 'uploads-paused')
  assert.match(server.stderr(), /"setting":"daily-uploads","value":5,"configured":0/)
  assert.doesNotMatch(server.stderr(), /"setting":"uploads"/)
  await operate('resume')
  await until('uploads are resumed', async () => (await post(server.url, gif())).status === 201)
})

describe('the minimum free disk space', () => {
  it('is checked before the body is read, and affects only uploads', async (t) => {
    const server = await serverFor(t, {})
    const { id, key, bytes } = await store(server.url)
    const huge = `${2 ** 49}`
    assert.equal((await server.operator(['set', 'min-free-bytes', huge])).code, 0)
    await until('there is too little space', async () => (await post(server.url, gif())).status === 507)
    const early = await request(server.url, 'POST', '/api/upload', {
      headers: {
        'Content-Type': 'multipart/form-data; boundary=x',
        'Content-Length': '1000',
        Expect: '100-continue',
      },
      body: Buffer.alloc(1000),
    })
    assert.equal(early.json().error, 'storage-full')
    assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
    assert.equal((await remove(server.url, key)).status, 200)
    assert.equal((await server.operator(['set', 'min-free-bytes', '0'])).code, 0)
    await until('there is enough space', async () => (await post(server.url, gif())).status === 201)
  })
})
