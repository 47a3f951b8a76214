/** Smoke test of a Worker with R2 and D1 on workerd. The long tests in this folder cover the details. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzippedBytes } from '../../build/worker.ts'
import type { R2ObjectBody } from '../../src/stores/r2/binding.ts'
import { configOf, type Env } from '../../src/worker/env.ts'
import { checkAnswer, checkProblem } from '../contracts/http/rules.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { post } from '../support/upload.ts'
import { rowsOf, saltsOf } from '../support/worker/stored-data.ts'
import { modules, startWorker, type WorkerHost } from '../support/worker/worker-host.ts'

const START_KB = 64
const ALL_KB = 171

it(`loads less than ${START_KB} KB at startup, and less than ${ALL_KB} KB in total`, async () => {
  // Not in the order of their names, which are hashes: it changes how well they compress together.
  const all = (await modules()).toSorted((a, b) => b.text.length - a.text.length)
  const bytes = gzippedBytes(all.filter(({ isAtStart }) => isAtStart))
  assert.ok(bytes < START_KB * 1000, `${bytes} bytes`)
  assert.ok(gzippedBytes(all) < ALL_KB * 1000, `${gzippedBytes(all)} bytes`)
})

describe('a Worker', () => {
  let host: WorkerHost
  before(async () => {
    host = await startWorker()
  })
  after(() => host?.stop())

  const ask = (method: string, path: string, headers = {}) => request(host.url, method, path, { headers })
  const upload = (bytes: Buffer) => post(host.url, bytes)

  /** Flips a bit of the stored image. */
  async function flip(id: string): Promise<void> {
    const object = (await host.bucket.get(id)) as R2ObjectBody
    const bytes = new Uint8Array(await object.arrayBuffer())
    bytes[500]! ^= 1
    await host.bucket.put(id, bytes, { customMetadata: { ...object.customMetadata } })
  }

  for (const size of [1000, 2_000_000]) {
    it(`stores ${size} bytes, serves them intact or not at all, and deletes them`, async () => {
      const bytes = gif({ size })
      const stored = await upload(bytes)
      assert.equal(stored.status, 201, stored.text)
      const { id, key } = stored.json()
      const raw = await ask('GET', `/raw/${id}`)
      assert.ok(raw.body.equals(bytes))
      assert.equal(raw.headers.get('Content-Length'), `${bytes.length}`)
      const part = await ask('GET', `/raw/${id}`, { Range: 'bytes=10-19' })
      assert.equal(part.status, 206)
      assert.ok(part.body.equals(bytes.subarray(10, 20)))
      assert.equal((await ask('GET', `/${id}`, { Accept: 'text/html' })).status, 200)
      const other = (await upload(bytes)).json().id
      await flip(other)
      await assert.rejects(async () => assert.equal((await ask('GET', `/raw/${other}`)).status, 200))
      assert.equal((await ask('DELETE', `/api/delete?key=${key}`)).status, 200)
      assert.equal((await ask('GET', `/raw/${id}`)).status, 404)
    })
  }

  it('serves static assets', async () => {
    const page = await ask('GET', '/')
    const [asset] = /\/assets\/[\w.-]+\.css/.exec(page.text) ?? []
    const { status, headers } = await ask('GET', asset!)
    assert.deepEqual([status, headers.get('Content-Type')], [200, 'text/css; charset=utf-8'])
    assert.match(headers.get('Cache-Control') ?? '', /immutable/)
  })

  it('is ready and has no metrics endpoint', async () => {
    assert.equal((await ask('GET', '/readyz')).status, 200)
    assert.equal((await ask('GET', '/metrics')).status, 404)
  })

  it('never writes salts to D1, whose history cannot be deleted', async () => {
    assert.equal((await upload(gif())).status, 201)
    const salts = [...(await saltsOf(host)).values()]
    assert.ok(salts.length > 0)
    const tables = Object.entries(await rowsOf(host))
    assert.ok(tables.some(([table, rows]) => table === 'places' && rows.length > 0))
    for (const [table, rows] of tables) {
      for (const text of [...salts, '127.0.0.1', '198.51.100.1'])
        assert.ok(!JSON.stringify(rows).includes(text), table)
    }
  })

  it('runs its cron trigger', async () => {
    await host.cron()
    assert.equal((await upload(gif())).status, 201)
  })
})

it('responds with 503, to uploads with rate limit headers, and says what to do while migrations are missing', async () => {
  const host = await startWorker()
  try {
    await host.database.prepare('drop table migrations').all()
    const answers = [
      ['GET', '/', await request(host.url, 'GET', '/')],
      ['POST', '/api/upload', await post(host.url, gif())],
    ] as const
    for (const [method, path, answer] of answers) {
      checkProblem(answer, 503, 'unavailable')
      checkAnswer(answer, { method, path, https: false })
    }
    await until('the remedy is logged', () => host.logs().includes('d1 migrations apply'))
  } finally {
    await host.stop()
  }
})

describe('a Worker with an invalid configuration', () => {
  const BOUND = { IMAGES: {}, LEDGER: {}, PRIVATE: {}, ASSETS: {}, BASE_URL: 'https://pics.example' }

  for (const [address, why] of [
    ['http://ops.pics.example', /must begin with https:/],
    ['https://pics.example', /a different host from BASE_URL/],
  ] as const) {
    it(`rejects ${address} as OPERATOR_URL`, () => {
      assert.throws(() => configOf({ ...BOUND, OPERATOR_URL: address } as unknown as Env), {
        message: why,
      })
    })
  }

  it('logs unsupported variables and responds with 503', async () => {
    const host = await startWorker({ DATA_DIR: '/data', CDN_URL: 'cloudflare://zone?token=t' })
    try {
      const answer = await request(host.url, 'GET', '/')
      checkProblem(answer, 503, 'unavailable')
      checkAnswer(answer, { method: 'GET', path: '/', https: false })
      // The response may arrive before the log line.
      await until('the error is logged', () =>
        host.logs().includes('DATA_DIR has no effect on Workers: there is no disk'),
      )
      assert.ok(host.logs().includes(answer.headers.get('X-Request-Id')!), host.logs())
    } finally {
      await host.stop()
    }
  })
})
