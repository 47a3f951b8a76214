/** Every bundler finds the worker, or the page says what to do. Runs in real Chromium against a real server. */

import assert from 'node:assert/strict'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import type { Browser } from 'playwright-core'
import { rollup } from 'rollup'
import { build as vite } from 'vite'
import webpack from 'webpack'
import { cameraJpeg } from '../client/pictures.ts'
import { launchBrowser, whyNoChromium } from '../support/browser.ts'
import { end, listen } from '../support/listen.ts'
import { ROOT } from '../support/processes/process.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { type Installed, NAMES } from './installed.ts'

/** Bundles `entry` to `main.js` in the folder `out`. */
type Bundle = (entry: string, out: string) => Promise<unknown>

/** Each with the settings of its getting-started page, and nothing special for workers. */
const BUNDLERS: Record<string, Bundle> = {
  vite: (entry, out) =>
    vite({
      configFile: false,
      logLevel: 'error',
      root: join(entry, '..'),
      // The page is in a subfolder of its site.
      base: './',
      build: {
        outDir: out,
        emptyOutDir: false,
        rolldownOptions: { input: entry, output: { entryFileNames: 'main.js' } },
      },
    }),
  webpack: (entry, out) =>
    new Promise((done, failed) => {
      const options = { mode: 'production', entry, output: { path: out, filename: 'main.js' } } as const
      // Minifying takes most of the time and reveals nothing.
      webpack({ ...options, optimization: { minimize: false } }, (error, stats) => {
        if (error || !stats || stats.hasErrors()) failed(error ?? new Error(stats?.toString()))
        else done(stats)
      })
    }),
  esbuild: (entry, out) =>
    esbuild.build({
      entryPoints: [entry],
      outdir: out,
      bundle: true,
      splitting: true,
      format: 'esm',
      logLevel: 'error',
    }),
  rollup: async (entry, out) => {
    const bundle = await rollup({ input: entry, plugins: [nodeResolve({ browser: true })] })
    return bundle.write({ dir: out, format: 'es', entryFileNames: 'main.js' })
  },
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
}
/** Compressing a picture in a browser on a machine that is busy with other tests. */
const TIMEOUT_MS = 180_000
const WITHOUT_WORKER_SUPPORT = ['esbuild', 'rollup']

export async function bundlers(client: Installed): Promise<void> {
  describe('bundlers', { skip: await whyNoChromium() }, () => {
    let site: Server
    let origin: string
    let service: RunningServer
    let browser: Browser
    let photo: Buffer
    before(async () => {
      const { folder } = client
      photo = await cameraJpeg(320, 240)
      await cp(join(ROOT, 'examples/browser'), join(folder, 'page'), { recursive: true })
      site = createServer(async (request, response) => {
        const path = new URL(request.url ?? '/', 'http://site').pathname
        const file = await readFile(join(folder, 'sites', path)).catch(() => null)
        const type = TYPES[extname(path)] ?? 'application/octet-stream'
        response.writeHead(file ? 200 : 404, { 'Content-Type': type }).end(file ?? '')
      })
      origin = `http://127.0.0.1:${await listen(site)}`
      service = await startServer({ ALLOWED_ORIGINS: origin })
      browser = await launchBrowser()
    })
    after(async () => {
      await browser?.close()
      await service?.stop()
      if (site !== undefined) await end(site)
    })

    /** The page's final message. `attributes`: added to its body. */
    async function messageAfterUpload(name: string, attributes = ''): Promise<string> {
      const html = await readFile(join(client.folder, 'page/index.html'), 'utf8')
      const withService = html.replace('"https://pics.example"', `"${service.url}" ${attributes}`)
      await writeFile(join(client.folder, 'sites', name, 'index.html'), withService)
      const page = await browser.newPage()
      page.setDefaultTimeout(TIMEOUT_MS)
      try {
        await page.goto(`${origin}/${name}/index.html`)
        const file = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: photo }
        await page.locator('input').setInputFiles(file)
        const message = page.locator('output').filter({ hasText: /http|worker|[.]$/ })
        return (await message.textContent()) ?? ''
      } finally {
        await page.close()
      }
    }

    async function assertSmaller(link: string): Promise<void> {
      const answer = await fetch(`${service.url}/raw${new URL(link).pathname}`)
      assert.equal(answer.status, 200)
      const { byteLength } = await answer.arrayBuffer()
      assert.ok(byteLength < 0.9 * photo.length, `${byteLength} of ${photo.length} bytes`)
    }

    for (const [name, bundle] of Object.entries(BUNDLERS)) {
      const findsWorker = !WITHOUT_WORKER_SUPPORT.includes(name)
      test(`${name}${findsWorker ? ' finds the worker' : ' and a page that serves it'}: compresses and uploads a picture`, async () => {
        const out = join(client.folder, 'sites', name)
        await mkdir(out, { recursive: true })
        await bundle(join(client.folder, 'page/main.js'), out)
        if (findsWorker) return assertSmaller(await messageAfterUpload(name))
        // Never silently uncompressed.
        assert.match(
          await messageAfterUpload(name),
          /worker can't start\. Serve the folder "worker".*configure\(\{ workerUrl/,
        )
        await cp(join(client.folder, 'node_modules', NAMES.client, 'worker'), join(out, 'worker'), {
          recursive: true,
        })
        await assertSmaller(await messageAfterUpload(name, 'data-worker-url="worker/worker.js"'))
      })
    }
  })
}
