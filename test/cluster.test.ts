/** What holds over several servers on one S3 store and one Postgres, and when one of these is not there. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkProblem } from './contracts/http/rules.ts'
import { type Gate, startGate } from './support/gate.ts'
import { type Answer, request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { type Cluster, s3Env, serviceOf, startCluster } from './support/processes/cluster.ts'
import { type Front, hasNginx, startNginxFront } from './support/processes/front.ts'
import { type PostgresServer, startPostgres } from './support/processes/postgres.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, postInTurn, remove, store } from './support/upload.ts'

const PREFIX = 'pictures/'

let fake: FakeS3
let gate: Gate
let postgres: PostgresServer
let cluster: Cluster
let urls: string[]

before(async () => {
  ;[fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  gate = await startGate(fake.port)
  const service = { ...serviceOf(fake), endpoint: `http://127.0.0.1:${gate.port}` }
  cluster = await startCluster({
    ...s3Env(service, PREFIX),
    LEDGER_URL: await postgres.createSchema(),
    LOG_LEVEL: 'error',
  })
  urls = cluster.servers.map((server) => server.url)
})
after(async () => {
  await cluster?.stop()
  await gate?.close()
  await Promise.all([fake?.close(), postgres?.destroy()])
})

const everywhere = (ask: (url: string) => Promise<Answer>) => Promise.all(urls.map(ask))
const page = (url: string, id: string) => request(url, 'GET', `/${id}`)
const ready = (url: string) => request(url, 'GET', '/readyz')
/** A success holds for a while. */
async function untilReadyzSays(told: Record<string, string>): Promise<void> {
  const expected = JSON.stringify(told)
  await until(`/readyz says ${expected} everywhere`, async () =>
    (await everywhere(ready)).every((answer) => answer.text === expected),
  )
}
const remainingOf = (answer: Answer) => Number(answer.headers.get('X-RateLimit-Remaining'))
/** Seen without using a place: no multipart. */
const placesLeft = async (from: string) =>
  remainingOf(await request(urls[0]!, 'POST', '/api/upload', { headers: { 'X-Forwarded-For': from } }))

describe('several servers', () => {
  it('acknowledge exactly 100 of 300 uploads that one address sends to all at once', async () => {
    const from = '198.51.100.10'
    const before = fake.objects.size
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, nth) => postInTurn(urls[nth % urls.length]!, gif(), from)),
    )
    const stored = answers.filter(({ status }) => status === 201)
    assert.equal(stored.length, 100)
    for (const answer of answers) if (answer.status !== 201) checkProblem(answer, 429, 'quota-exceeded')
    const places = stored.map(remainingOf).sort((a, b) => a - b)
    assert.deepEqual(
      places,
      Array.from({ length: 100 }, (_, left) => left),
      'each place is given once',
    )
    assert.equal(fake.objects.size - before, 100)
    for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 429)
    const shared = answers.filter((answer, nth) => answer.status === 201 && nth % urls.length !== 0)
    assert.ok(shared.length > 0, 'more than one server took uploads')
    for (const answer of stored) assert.equal((await fetchRaw(urls[0]!, answer.json().id)).status, 200)
  })

  it('see at once what one of them stored or deleted', async () => {
    for (let nth = 0; nth < 9; nth++) {
      const { id, key, bytes } = await store(urls[nth % urls.length]!)
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      assert.equal((await remove(urls[(nth + 1) % urls.length]!, key)).status, 200)
      for (const ask of [fetchRaw, page]) {
        for (const answer of await everywhere((url) => ask(url, id))) assert.equal(answer.status, 404)
      }
    }
  })

  it('delete once when all are asked at the same time', async () => {
    const { id, key } = await store(urls[0]!)
    const answers = await Promise.all([...urls, ...urls, ...urls].map((url) => remove(url, key)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(8).fill(404)])
    assert.ok(![...fake.objects.keys()].some((name) => name.endsWith(id)))
  })

  it('obey the operator at once', async () => {
    const { id, bytes } = await store(urls[1]!)
    const operator = async (words: string[]) => {
      const ran = await cluster.servers[0]!.operator(words)
      assert.equal(ran.code, 0, ran.stderr)
    }
    await operator(['remove', id, '--reason', 'against the terms', '--block'])
    for (const answer of await everywhere((url) => fetchRaw(url, id))) checkProblem(answer, 410, 'removed')
    for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 410)
    const from = '198.51.100.20'
    for (const answer of await everywhere((url) => post(url, bytes, from))) {
      checkProblem(answer, 403, 'blocked-image')
    }
    assert.equal(await placesLeft(from), 100)
  })

  it('keep no key and no address in store and ledger', async () => {
    const from = '198.51.100.30'
    const { id, key } = await store(urls[0]!, gif(), from)
    const [object] = [...fake.objects].filter(([name]) => name.endsWith(id))
    const kept = JSON.stringify([object![0], object![1].headers, object![1].bytes!.toString('latin1')])
    const tables = await postgres.query(
      "select query_to_xml(format('select * from %I.%I', schemaname, tablename), true, true, '')::text as rows from pg_tables where schemaname like 'case_%'",
    )
    const rows = JSON.stringify(tables)
    assert.ok(rows.includes('<bucket>'), 'the ledger has places')
    for (const secret of [key.slice(11), from]) {
      assert.ok(!kept.includes(secret), secret)
      assert.ok(!rows.includes(secret), secret)
    }
  })
})

describe('a store that is not there', () => {
  const absences: Record<string, { begin: () => void; end: () => void }> = {
    'connections break': { begin: () => gate.shut(), end: () => gate.open() },
    'it answers 503 to all': {
      begin: () =>
        fake.faults.add({ kind: 'answer', status: 503, code: 'ServiceUnavailable' }, { times: Infinity }),
      end: () => fake.faults.clear(),
    },
  }
  for (const [name, { begin, end }] of Object.entries(absences)) {
    it(`is told as 503, never as an image that is not there, and heals by itself: ${name}`, async () => {
      const from = `198.51.100.${40 + name.length}`
      const { id, key, bytes } = await store(urls[0]!, gif(), from)
      begin()
      try {
        const asked = await Promise.all([
          everywhere((url) => post(url, gif(), from)),
          everywhere((url) => fetchRaw(url, id)),
          everywhere((url) => request(url, 'GET', `/raw/${id}`, { headers: { Range: 'bytes=0-1' } })),
          everywhere((url) => fetchRaw(url, 'AAAAAAAAAAA')),
          everywhere((url) => remove(url, key)),
        ])
        for (const answer of asked.flat()) {
          checkProblem(answer, 503, 'unavailable')
          assert.equal(answer.headers.get('Cache-Control'), 'no-store')
        }
        for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 503)
        await untilReadyzSays({ status: 'unavailable', store: 'unavailable' })
        for (const answer of await everywhere(ready)) assert.equal(answer.status, 503)
        for (const answer of await everywhere((url) => request(url, 'GET', '/healthz'))) {
          assert.equal(answer.status, 200)
        }
        assert.equal(await placesLeft(from), 99, 'what was not stored does not count')
      } finally {
        end()
      }
      for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 201)
      assert.equal((await remove(urls[2]!, key)).status, 200)
    })
  }
})

describe('a store that takes no writes', () => {
  it('is not ready, refuses uploads and deletions, and serves on', async () => {
    const from = '198.51.100.50'
    const { id, key, bytes } = await store(urls[0]!, gif(), from)
    fake.faults.add(
      { kind: 'answer', status: 503, code: 'ServiceUnavailable' },
      { times: Infinity, on: ({ method }) => method === 'PUT' || method === 'DELETE' },
    )
    try {
      await untilReadyzSays({ status: 'unavailable', store: 'unavailable' })
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => post(url, gif(), from))) {
        checkProblem(answer, 503, 'unavailable')
      }
      for (const answer of await everywhere((url) => remove(url, key))) assert.equal(answer.status, 503)
    } finally {
      fake.faults.clear()
    }
    for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
    for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
    assert.equal((await remove(urls[1]!, key)).status, 200)
  })
})

describe('a ledger that is not there', () => {
  it('stops uploads, and nothing else', async () => {
    const from = '198.51.100.60'
    const { id, bytes } = await store(urls[0]!, gif(), from)
    const doomed = await store(urls[0]!, gif(), from)
    await postgres.stop()
    try {
      for (const answer of await everywhere((url) => post(url, gif(), from))) {
        checkProblem(answer, 503, 'unavailable')
        assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
      }
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 200)
      // Nobody can tell whether the operator removed it: it is not there.
      for (const answer of await everywhere((url) => fetchRaw(url, 'AAAAAAAAAAA'))) {
        checkProblem(answer, 404, 'not-found')
      }
      assert.equal((await remove(urls[1]!, doomed.key)).status, 200)
      await untilReadyzSays({ status: 'unavailable', ledger: 'unavailable' })
      for (const answer of await everywhere(ready)) assert.equal(answer.status, 503)
    } finally {
      await postgres.start()
    }
    for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
    assert.equal(await placesLeft(from), 98, 'it remembers')
    for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 201)
    for (const answer of await everywhere((url) => fetchRaw(url, doomed.id))) assert.equal(answer.status, 404)
  })

  it('restarted under load loses no image and gives no place twice', async () => {
    const addresses = Array.from({ length: 12 }, (_, nth) => `198.51.101.${nth}`)
    const answers = new Map<string, Answer[]>(addresses.map((from) => [from, []]))
    let isOver = false
    const loads = addresses.map(async (from, nth) => {
      while (!isOver) answers.get(from)!.push(await post(urls[nth % urls.length]!, gif(), from))
    })
    const count = (status: number) =>
      [...answers.values()].flat().filter((answer) => answer.status === status).length
    const rises = async (status: number) => {
      const before = count(status)
      await until(`some ${status}`, () => count(status) > before + 20)
    }
    await rises(201)
    await postgres.stop()
    await rises(503)
    await postgres.start()
    await rises(201)
    isOver = true
    await Promise.all(loads)
    for (const [from, given] of answers) {
      const stored = given.filter(({ status }) => status === 201)
      const refused = given.filter(({ status }) => status === 503)
      const full = given.filter(({ status }) => status === 429)
      assert.equal(stored.length + refused.length + full.length, given.length, 'nothing but 201, 503 and 429')
      for (const answer of refused) checkProblem(answer, 503, 'unavailable')
      assert.ok(stored.length <= 100)
      // A place whose reply was lost stays taken: never one too many, at worst one too few.
      const used = 100 - (await placesLeft(from))
      assert.ok(
        used >= stored.length && used <= stored.length + refused.length,
        `${used} of ${stored.length}`,
      )
      for (const answer of stored) assert.equal((await fetchRaw(urls[0]!, answer.json().id)).status, 200)
    }
  })
})

// Last: the servers do not come back.
describe('nginx before servers that die', { skip: hasNginx ? false : 'nginx is not on this machine' }, () => {
  let front: Front
  before(async () => {
    const ports = cluster.servers.map((server) => server.port)
    front = await startNginxFront(await freePort(), ports, ['127.0.0.1/32'])
  })
  after(() => front?.stop())

  it('keeps no key and no address in its logs', async () => {
    const from = '198.51.102.9'
    const { id, key } = await store(front.url, gif(), from)
    assert.equal((await request(front.url, 'GET', `/api/delete?key=${key}`)).status, 200)
    assert.equal((await remove(front.url, key)).status, 200)
    const logged = (name: string) => readFile(join(front.folder!, name), 'utf8')
    await until('the last request is logged', async () => (await logged('access.log')).includes('DELETE'))
    assert.match(await logged('access.log'), / GET \/api\/delete 200 /)
    for (const name of ['access.log', 'error.log']) {
      const lines = await logged(name)
      assert.ok(!lines.includes(key.slice(id.length)), name)
      assert.doesNotMatch(lines, /198\.51\.102|127\.0\.0\.1|\?/, name)
    }
  })

  it('asks the others, also for uploads', async () => {
    const { id, bytes } = await store(front.url, gif(), '198.51.102.1')
    await cluster.servers[0]!.kill()
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, nth) =>
        nth % 2 ? fetchRaw(front.url, id) : postInTurn(front.url, gif(), '198.51.102.2'),
      ),
    )
    for (const [nth, { status, body }] of answers.entries()) {
      assert.equal(status, nth % 2 ? 200 : 201)
      if (nth % 2) assert.deepEqual(body, bytes)
    }
  })

  it('says in the words of the contract that none is left', async () => {
    await Promise.all(cluster.servers.map((server) => server.kill()))
    for (const answer of [await fetchRaw(front.url, 'AAAAAAAAAAA'), await post(front.url, gif())]) {
      checkProblem(answer, 503, 'unavailable')
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      assert.equal(answer.headers.get('X-Content-Type-Options'), 'nosniff')
    }
  })
})
