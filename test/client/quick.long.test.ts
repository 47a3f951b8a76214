/** The quick encoding of photographs in real browsers. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test as testInFirefox } from 'node:test'
import { compress } from '../../src/client/node.ts'
import type { Line } from '../../src/client/types.ts'
import { launchFirefox, noFirefox } from '../support/browser.ts'
import { before, test } from '../support/chromium-tests.ts'
import { serveEnginePage, UNFAITHFUL_CANVAS } from '../support/engine-page.ts'
import { compressIn, inChromium, newPage } from './in-chromium.ts'
import { blobOf, cameraJpeg } from './pictures.ts'

const sdk = inChromium()
/** So fast that only encoding time matters. */
const FAST: Line = { bytesPerSecond: 1e9, isBusy: true }
let camera: Buffer
let quick: Buffer
before(async () => {
  camera = await cameraJpeg(1600, 1200)
  quick = Buffer.from(await (await compress(blobOf(camera), { line: FAST })).blob.arrayBuffer())
})

test('is the same in Chromium as in Node, and fetches no codecs', async () => {
  sdk.downloads().clear()
  assert.ok((await sdk.compress(camera, { line: FAST })).bytes.equals(quick))
  const codecs = () => [...sdk.downloads().keys()].filter((name) => name.endsWith('.wasm'))
  assert.deepEqual(codecs(), [])
  assert.ok(!(await sdk.compress(camera)).bytes.equals(quick))
  assert.equal(codecs().length, 2)
})

test('needs no canvas: some browsers alter its pixels', async () => {
  assert.ok((await sdk.compress(camera, { line: FAST }, UNFAITHFUL_CANVAS)).bytes.equals(quick))
})

test('is not used if there is too little memory', async () => {
  const little = `{
    const Native = Int32Array
    Int32Array = class extends Native {
      constructor(source) {
        if (source > 1_000_000) throw new RangeError('Array buffer allocation failed')
        super(source)
      }
    }
  }`
  const { bytes, action } = await sdk.compress(camera, { line: FAST }, little)
  assert.equal(action, 'lossy')
  assert.ok(!bytes.equals(quick))
})

testInFirefox('is the same in Firefox', { skip: noFirefox }, async () => {
  const browser = await launchFirefox()
  const site = await serveEnginePage(join(import.meta.dirname, 'browser-entry.ts'))
  try {
    const page = await newPage(browser, '')
    await page.goto(site.url)
    assert.ok((await compressIn(page, camera, { line: FAST })).bytes.equals(quick))
  } finally {
    await browser.close()
    site.close()
  }
})
