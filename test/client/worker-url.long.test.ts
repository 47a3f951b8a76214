/** The worker served as separate files, for bundlers that don't detect it, in real Chromium. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { buildWorker } from '../../build/packages/worker.ts'
import { after, before, test } from '../support/chromium-tests.ts'
import { compressIn, type Facts, inChromium } from './in-chromium.ts'
import { cameraJpeg } from './pictures.ts'

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm' }

const sdk = inChromium()
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinhole-worker-'))
  await buildWorker(folder)
})
after(() => rm(folder, { recursive: true, force: true }))

async function compressBy(workerUrl: string): Promise<Facts> {
  const page = await sdk.open()
  await page.route('**/pinhole-worker/*', async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/pinhole-worker/', '')
    const body = await readFile(join(folder, name)).catch(() => null)
    await route.fulfill(body ? { body, contentType: TYPES[extname(name)] ?? 'text/plain' } : { status: 404 })
  })
  await page.evaluate((workerUrl) => window.pinhole.configure({ workerUrl }), workerUrl)
  return compressIn(page, await cameraJpeg(320, 240))
}

test('compresses with a worker at workerUrl', async () => {
  assert.equal((await compressBy('/pinhole-worker/worker.js')).action, 'lossy')
})

test('rejects with instructions if there is no worker at workerUrl', async () => {
  const message = /none\.js can't start\. Serve the folder "worker"/
  await assert.rejects(compressBy('/pinhole-worker/none.js'), { message })
})
