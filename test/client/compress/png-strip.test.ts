/** Estimating from the first rows of a PNG whether repacking pays. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { worthRepacking } from '../../../src/client/compress/plan.ts'
import { stripOf } from '../../../src/client/compress/png-strip.ts'
import { compress } from '../../../src/client/node.ts'
import { blobOf, photo, screenshot } from '../pictures.ts'

const KINDS = {
  'red, green and blue': () => photo(900, 800).png(),
  'with alpha': () => photo(900, 800).ensureAlpha(0.5).png(),
  grey: () => photo(900, 800).greyscale().png(),
  palette: () => screenshot(900, 800).png({ palette: true, colours: 16 }),
  '16 bits': () => photo(900, 800).toColourspace('rgb16').png(),
}

for (const [kind, make] of Object.entries(KINDS)) {
  test(`extracts the first rows as a valid PNG: ${kind}`, async () => {
    const whole = await make().toBuffer()
    const strip = await stripOf(new Uint8Array(whole))
    assert.ok(strip)
    const { width, height = 0 } = await sharp(strip.png).metadata()
    assert.equal(width, 900)
    assert.ok(height > 50 && height < 600, `${height}`)
    const rows = await sharp(whole).extract({ left: 0, top: 0, width: 900, height }).raw().toBuffer()
    assert.ok((await sharp(strip.png).raw().toBuffer()).equals(rows))
    assert.ok(Math.abs(strip.bytes / whole.length - height / 800) < 0.25)
  })
}

test('returns null for small and interlaced images', async () => {
  assert.equal(await stripOf(new Uint8Array(await photo(300, 300).png().toBuffer())), null)
  const interlaced = await photo(900, 800).png({ progressive: true }).toBuffer()
  assert.equal(await stripOf(new Uint8Array(interlaced)), null)
})

test('returns null if the first rows compress much better than the rest', async () => {
  const flat = sharp({ create: { width: 900, height: 5000, channels: 3, background: '#fff' } })
  const grain = await photo(900, 150, 120).png().toBuffer()
  const picture = await flat
    .composite([{ input: grain, left: 0, top: 4850 }])
    .png()
    .toBuffer()
  assert.equal(await stripOf(new Uint8Array(picture)), null)
})

test('leaves a well-packed PNG unchanged', async () => {
  const input = await screenshot(600, 800).png({ compressionLevel: 3 }).toBuffer()
  const first = await compress(blobOf(input), { mode: 'keep-format' })
  assert.equal(first.action, 'lossless')
  const packed = await first.blob.bytes()
  const strip = await stripOf(packed)
  assert.ok(strip)
  const again = await compress(blobOf(packed), { mode: 'keep-format' })
  assert.equal(again.action, 'unchanged')
  assert.equal(worthRepacking(979, 1000), true)
  assert.equal(worthRepacking(981, 1000), false)
})
