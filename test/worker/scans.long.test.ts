/** The operator's host of a Worker, as scanners use it; and a scanner that is asked by the cron trigger. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pullScanSuite } from '../contracts/pull-scans.ts'
import { startFakeScanner } from '../support/fake-scanner.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { sha256Of } from '../support/sha256.ts'
import { startWorker } from '../support/worker/worker-host.ts'

pullScanSuite('Workers', async (env) => {
  const worker = await startWorker({ OPERATOR_URL: 'http://localhost:PORT', ...env })
  return {
    url: worker.url,
    door: worker.url.replace('127.0.0.1', 'localhost'),
    round: worker.cron,
    stop: worker.stop,
  }
})

it('asks the scanner about what was published, with the next trigger', async (t) => {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const worker = await startWorker({ SCAN: 'after', SCANNER_URL: scanner.url })
  t.after(() => worker.stop())
  const store = async (bytes: Buffer): Promise<string> => {
    const { body, contentType } = formOf(bytes)
    const headers = { 'Content-Type': contentType, 'CF-Connecting-IP': '198.51.100.7' }
    return (await request(worker.url, 'POST', '/api/upload', { headers, body })).json().id
  }
  const [clean, bad] = [gif({ size: 400_000 }), gif()]
  scanner.answers.set(sha256Of(bad), 'csam')
  const ids = [await store(clean), await store(bad)]
  const statuses = () =>
    Promise.all(ids.map(async (id) => (await request(worker.url, 'GET', `/raw/${id}`)).status))
  assert.deepEqual(await statuses(), [200, 200])
  await worker.cron()
  assert.deepEqual(await statuses(), [200, 403])
  assert.deepEqual([scanner.looksAt(clean), scanner.looksAt(bad)], [1, 1])
})
