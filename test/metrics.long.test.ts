import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createCounting, DURATION_BUCKETS, sumOf } from '../src/node/metrics/counts.ts'
import { exposition } from '../src/node/metrics/exposition.ts'
import { atAdmin } from './support/at-admin.ts'
import { childrenOf } from './support/attack/process-costs.ts'
import { folderOf } from './support/folder.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, store } from './support/upload.ts'

/** Values by name and labels, e.g. `pinhole_uploads_total{outcome="stored"}`. */
type Samples = Map<string, number>

async function scrape(server: RunningServer): Promise<Samples> {
  const { status, text } = await atAdmin(server.dataDir, 'GET', '/metrics')
  assert.equal(status, 200)
  return samplesOf(text)
}

function samplesOf(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(line)
      return [name!, Number(value)]
    }),
  )
}

for (const WORKERS of ['1', '2']) {
  describe(`metrics, WORKERS=${WORKERS}`, () => {
    let server: RunningServer
    before(async () => {
      server = await startServer({ WORKERS, UPLOADS_PER_DAY: '6' })
    })
    after(() => server?.stop())

    it('count events of all processes', async () => {
      const images = []
      for (let i = 0; i < 6; i++) images.push(await store(server.url, gif({ size: 2000 })))
      assert.equal((await post(server.url, Buffer.from('text'), '198.51.100.9')).status, 415)
      assert.equal((await post(server.url, gif())).status, 429)
      for (const { id } of images) assert.equal((await fetchRaw(server.url, id)).status, 200)
      assert.equal((await fetchRaw(server.url, '00000000000')).status, 404)
      assert.equal((await remove(server.url, images[0]!.key)).status, 200)
      assert.equal((await remove(server.url, images[0]!.key)).status, 404)

      const samples = await scrape(server)
      assert.equal(samples.get('pinhole_uploads_total{outcome="stored"}'), 6)
      assert.equal(samples.get('pinhole_uploads_total{outcome="unsupported-type"}'), 1)
      assert.equal(samples.get('pinhole_uploads_total{outcome="quota-exceeded"}'), 1)
      assert.equal(samples.get('pinhole_upload_bytes_total'), 12_000)
      assert.equal(samples.get('pinhole_removals_total{by="uploader",cause="key"}'), 1)
      assert.equal(samples.get('pinhole_http_requests_total{route="upload",status="201"}'), 6)
      assert.equal(samples.get('pinhole_http_requests_total{route="raw",status="200"}'), 6)
      assert.equal(samples.get('pinhole_http_requests_total{route="raw",status="404"}'), 1)
      assert.equal(samples.get('pinhole_http_requests_total{route="delete",status="404"}'), 1)
      assert.equal(samples.get('pinhole_http_request_duration_seconds_count{route="upload"}'), 8)
      assert.equal(samples.get('pinhole_uploads_paused'), 0)
      assert.ok(samples.get('pinhole_disk_free_bytes')! > 0)
      assert.ok(!samples.has('pinhole_purges_owed'), 'no cache is configured')
      assert.ok([...samples.keys()].some((name) => name.startsWith('pinhole_build_info{version="')))
    })

    it('have a bounded number of series, and no ID or address in any label', async () => {
      const { id, key } = await store(server.url, gif(), '198.51.100.2')
      await fetchRaw(server.url, id)
      await request(server.url, 'GET', '/nowhere-0')
      await request(server.url, 'PATCH', `/${id}`)
      // A scrape counts as a request itself, visible from the next one on.
      await scrape(server)
      const before = await scrape(server)
      for (let i = 0; i < 50; i++) {
        await request(server.url, 'GET', `/nowhere-${i}/${i}?x=${i}`)
        await request(server.url, 'GET', `/nowhere-${i}`)
      }
      const afterwards = await scrape(server)
      assert.equal(afterwards.size, before.size)
      const text = [...afterwards.keys()].join('\n')
      for (const secret of [id, key, '198.51.100', '127.0.0.1']) assert.ok(!text.includes(secret), secret)
    })

    if (WORKERS === '2') {
      it('fail rather than decrease while the supervisor does not answer', async () => {
        process.kill(server.pid, 'SIGSTOP')
        try {
          assert.equal((await atAdmin(server.dataDir, 'GET', '/metrics')).status, 500)
        } finally {
          process.kill(server.pid, 'SIGCONT')
        }
        await scrape(server)
      })

      it('keep the counts of a dead worker', async () => {
        const before = await scrape(server)
        const [victim] = childrenOf(server.pid) ?? []
        process.kill(victim!, 'SIGKILL')
        await until('it is replaced', async () => {
          const now = childrenOf(server.pid)
          return now?.length === 2 && !now.includes(victim!)
        })
        const stored = (samples: Samples) => samples.get('pinhole_uploads_total{outcome="stored"}')
        assert.equal(stored(await scrape(server)), stored(before))
      })
    }
  })
}

it('does not disturb startup when scraped while a worker is starting', async (t) => {
  const dataDir = await folderOf(t)
  const LATE_WORKER = join(dataDir, 'late')
  const NODE_OPTIONS = `--import ${new URL('support/processes/late-worker.ts', import.meta.url).href}`
  const started = startServer({ WORKERS: '2', LATE_WORKER, NODE_OPTIONS }, { dataDir })
  t.after(async () => (await started).stop())
  await until('one worker is running, and the other is starting', async () => {
    const scraped = await atAdmin(dataDir, 'GET', '/metrics').catch(() => null)
    return scraped?.status === 200 && existsSync(LATE_WORKER)
  })
  assert.equal((await atAdmin(dataDir, 'GET', '/metrics')).status, 200)
  await rm(LATE_WORKER)
  const server = await started
  assert.match(server.stdout(), /^Pinhole is at http:/)
  assert.equal((await request(server.url, 'GET', '/healthz')).status, 200)
})

describe('the duration histogram', () => {
  it('puts each duration into one bucket, and adds all of them to the sum', async () => {
    const [one, other] = [createCounting(), createCounting()]
    for (const [i, bound] of DURATION_BUCKETS.entries()) (i % 2 ? one : other).request('raw', 200, bound)
    one.request('raw', 200, 1000)
    const samples = samplesOf(await exposition(sumOf([one.counts, other.counts]), []))
    const name = 'pinhole_http_request_duration_seconds'
    for (const [i, bound] of DURATION_BUCKETS.entries()) {
      assert.equal(samples.get(`${name}_bucket{route="raw",le="${bound}"}`), i + 1)
    }
    const count = DURATION_BUCKETS.length + 1
    assert.equal(samples.get(`${name}_bucket{route="raw",le="+Inf"}`), count)
    assert.equal(samples.get(`${name}_count{route="raw"}`), count)
    const sum = DURATION_BUCKETS.reduce((a, b) => a + b, 1000)
    assert.ok(Math.abs(samples.get(`${name}_sum{route="raw"}`)! - sum) < 1e-9)
  })
})
