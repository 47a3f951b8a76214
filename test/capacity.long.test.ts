/** Caps of the instance and of networks, and what the operator changes, over three servers on one ledger. */
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
let people = 0
const someone = () => `198.51.${++people >> 8}.${people & 255}`

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

/** Sends uploads at once, each from another address, and counts the answers. */
async function bots({ servers }: Cluster, count: number, from = someone): Promise<Record<string, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, nth) => post(servers[nth % 3]!.url, gif(), from())),
  )
  const seen: Record<string, number> = {}
  for (const answer of answers) {
    const name = answer.status === 201 ? 'stored' : answer.json().error
    seen[name] = (seen[name] ?? 0) + 1
  }
  return seen
}

describe('uploads of a day', () => {
  it('are met within 1 % by three servers at once, and never exceeded', async () => {
    await withCluster({ DAILY_UPLOADS: '300' }, async (cluster) => {
      const { stored = 0, 'capacity-reached': refused, ...others } = await bots(cluster, 400)
      assert.ok(stored <= 300 && stored >= 297, `${stored}`)
      assert.equal(refused, 400 - stored)
      assert.deepEqual(others, {})
      const answer = await post(cluster.servers[0]!.url, gif(), someone())
      assert.equal(answer.status, 503)
      assert.equal(answer.headers.get('Retry-After'), null)
      assert.ok(answer.json().retryAfter >= 1)
      assert.equal(answer.headers.get('X-RateLimit-Remaining'), '100', 'the address has used nothing')
    })
  })

  it('count what is stored alone', async () => {
    await withCluster({ DAILY_UPLOADS: '10' }, async ({ servers }) => {
      for (let nth = 0; nth < 20; nth++) {
        assert.equal((await post(servers[nth % 3]!.url, Buffer.from('none'), someone())).status, 415)
      }
      // What was refused is given back beside the answers.
      let stored = 0
      await until('ten are stored', async () => {
        const answers = await Promise.all(servers.map(({ url }) => post(url, gif(), someone())))
        stored += answers.filter(({ status }) => status === 201).length
        return stored >= 10
      })
      assert.equal(stored, 10)
    })
  })
})

describe('bytes of a day', () => {
  it('are never exceeded', async () => {
    await withCluster({ DAILY_BYTES: '2000000' }, async ({ servers }) => {
      let stored = 0
      for (let nth = 0; nth < 60; nth++) {
        const answer = await post(servers[nth % 3]!.url, gif({ size: 50_000 }), someone())
        if (answer.status === 201) stored++
        else assert.equal(answer.json().error, 'capacity-reached')
      }
      assert.ok(stored <= 40 && stored >= 38, `${stored} of 40`)
    })
  })
})

describe('what is only under way', () => {
  it('reaches no cap, and keeps nobody out: 112 silent uploads of 25 MB from 7 addresses', async () => {
    await withCluster({ DAILY_BYTES: '30000000', DAILY_UPLOADS: '20' }, async ({ servers }) => {
      const { url } = servers[0]!
      const silent = await Promise.all(
        Array.from({ length: 112 }, async (_, nth) => {
          const talk = await converse(url, 60_000)
          await talk.write(
            `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.${nth % 7}\r\n` +
              'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 26000000\r\n\r\n',
          )
          return talk
        }),
      )
      for (const server of servers) await store(server.url, gif({ size: 50_000 }), someone())
      const { stdout } = await servers[0]!.operator(['audit', '--json'])
      assert.equal(stdout.trim(), '')
      for (const talk of silent) talk.close()
    })
  })
})

describe('uploads of a network', () => {
  it('are exact over three servers, beside those of other networks', async () => {
    await withCluster({ NETWORK_UPLOADS: '30' }, async (cluster) => {
      let nth = 0
      const seen = await bots(cluster, 60, () => `203.0.113.${++nth}`)
      assert.deepEqual(seen, { stored: 30, 'network-quota-exceeded': 30 })
      const answer = await post(cluster.servers[0]!.url, gif(), '203.0.113.200')
      assert.equal(answer.status, 429)
      assert.ok(Number(answer.headers.get('Retry-After')) >= 1)
      assert.equal((await post(cluster.servers[0]!.url, gif(), '203.0.112.1')).status, 201)
      let host = 0
      const six = await bots(cluster, 40, () => `2001:db8:1:${(++host).toString(16)}::1`)
      assert.deepEqual(six, { stored: 30, 'network-quota-exceeded': 10 })
    })
  })
})

describe('caps that change while servers run', () => {
  it('are as they were set last, everywhere', async () => {
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
          'the cap is known',
          async () => (await post(url, Buffer.from('x'), someone())).status === 415,
        )
      }
      await until('the cap is reached', async () => 'capacity-reached' in (await bots(cluster, 3)))
      await set('0')
      for (const { url } of cluster.servers) {
        await until('the cap is gone', async () => (await post(url, gif(), someone())).status === 201)
      }
    })
  })

  it('pause uploads when they are reached for the second time, and the operator is told once of each', async () => {
    const receiver = await startFakeProvider()
    receiver.answer({ status: 200 })
    const caps = { DAILY_UPLOADS: '3', DAILY_BYTES: '2000', NOTIFY: `ntfy://${receiver.host}/ops?tls=off` }
    try {
      await withCluster(caps, async (cluster) => {
        const [first] = cluster.servers
        // The second one does not fit, and small ones still do.
        for (const status of [201, 503]) {
          assert.equal((await post(first!.url, gif({ size: 1800 }), someone())).status, status)
        }
        await until('both caps are reached and uploads paused', async () => {
          return 'uploads-paused' in (await bots(cluster, 3))
        })
        const { stdout } = await first!.operator(['audit', '--json'])
        const act = JSON.parse(stdout.trim().split('\n')[0]!)
        assert.deepEqual([act.act, act.subject, act.who], ['set', 'uploads=paused', 'pinhole'])
        await until('both are told', () => receiver.asked.length >= 2)
        const titles = receiver.asked.map(({ body }) => JSON.parse(body).title).sort()
        assert.deepEqual(titles, ['Pinhole: Daily limit reached', 'Pinhole: Uploads are paused'])
      })
    } finally {
      await receiver.stop()
    }
  })
})

describe('pauses while servers run', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster(await backends.place(), [{}, {}, {}])
  })
  after(() => cluster?.stop())

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
})

describe('room on the disk', () => {
  it('is asked for before the body, and everything else goes on', async (t) => {
    const server = await serverFor(t, {})
    const { id, key, bytes } = await store(server.url)
    const huge = `${2 ** 49}`
    assert.equal((await server.operator(['set', 'min-free-bytes', huge])).code, 0)
    await until('there is no room', async () => (await post(server.url, gif())).status === 507)
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
    await until('there is room', async () => (await post(server.url, gif())).status === 201)
  })
})
