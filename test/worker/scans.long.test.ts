/** Scanning on Workers: scanners that claim images from the admin server, and a scanner that the cron trigger calls. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pullScanSuite } from '../contracts/pull-scans.ts'
import { startFakeScanner } from '../support/fake-scanner.ts'
import { gif } from '../support/images/tiny-images.ts'
import { sha256Of } from '../support/sha256.ts'
import { fetchRaw, store } from '../support/upload.ts'
import { LOCAL_OPERATOR, startWorker } from '../support/worker/worker-host.ts'

pullScanSuite('Workers', async (env) => {
  const { url, operatorUrl, cron, stop } = await startWorker({ OPERATOR_URL: LOCAL_OPERATOR, ...env })
  return { url, door: operatorUrl, round: cron, stop }
})

it('scans published images with the next trigger', async (t) => {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const worker = await startWorker({ SCAN: 'after', SCANNER_URL: scanner.url })
  t.after(() => worker.stop())
  const [clean, bad] = [gif({ size: 400_000 }), gif()]
  scanner.answers.set(sha256Of(bad), 'csam')
  const images = [await store(worker.url, clean), await store(worker.url, bad)]
  const statuses = () => Promise.all(images.map(async ({ id }) => (await fetchRaw(worker.url, id)).status))
  assert.deepEqual(await statuses(), [200, 200])
  await worker.cron()
  assert.deepEqual(await statuses(), [200, 403])
  assert.deepEqual([scanner.looksAt(clean), scanner.looksAt(bad)], [1, 1])
})
