/** The worker as files of its own, for bundlers that find none: in real Chromium. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { buildWorker } from '../../build/packages/worker.ts'
import { launchBrowser } from '../support/browser.ts'
import { after, before, test } from '../support/chromium-tests.ts'
import { type EnginePage, serveEnginePage } from '../support/engine-page.ts'
import { cameraJpeg } from './pictures.ts'

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm' }

let folder: string
let site: EnginePage
let browser: Browser
let page: Page
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinhole-worker-'))
  await buildWorker(folder)
  site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'))
  browser = await launchBrowser()
  page = await browser.newPage()
  await page.route('**/pinhole-worker/*', async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/pinhole-worker/', '')
    const body = await readFile(join(folder, name)).catch(() => null)
    await route.fulfill(body ? { body, contentType: TYPES[extname(name)] ?? 'text/plain' } : { status: 404 })
  })
  await page.goto(site.url)
})
after(async () => {
  await browser?.close()
  site?.close()
  await rm(folder, { recursive: true, force: true })
})

async function compressBy(workerUrl: string): Promise<string> {
  const input = (await cameraJpeg(320, 240)).toString('base64')
  return page.evaluate(
    async ({ input, workerUrl }) => {
      window.pinhole.configure({ workerUrl })
      const file = new Blob([Uint8Array.fromBase64(input)])
      return window.pinhole.compress(file).then(
        ({ action }) => action,
        (error) => error.message,
      )
    },
    { input, workerUrl },
  )
}

test('a worker served as files compresses', async () => {
  assert.equal(await compressBy('/pinhole-worker/worker.js'), 'lossy')
})

test('an address without a worker is an error that says what to do', async () => {
  assert.match(
    await compressBy('/pinhole-worker/none.js'),
    /none\.js can't start\. Serve the folder "worker"/,
  )
})
