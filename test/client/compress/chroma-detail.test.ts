import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { fineColourShows } from '../../../src/client/compress/chroma-detail.ts'
import { photo, rgba } from '../pictures.ts'

const shows = async (picture: Buffer) => fineColourShows(await rgba(picture))

/** Stripes of two colours, one pixel wide. */
function stripes(one: number[], other: number[]) {
  const row = Array.from({ length: 64 }, (_, i) => (i % 2 ? one : other)).flat()
  const data = Buffer.from(Array.from({ length: 64 }, () => row).flat())
  return sharp(data, { raw: { width: 64, height: 64, channels: 3 } })
    .png()
    .toBuffer()
}

test('fine lines of two colours show, of two greys they do not', async () => {
  assert.equal(await shows(await stripes([240, 20, 20], [20, 20, 240])), true)
  assert.equal(await shows(await stripes([240, 240, 240], [20, 20, 20])), false)
})

test('soft colour does not show, grain of one brightness neither', async () => {
  assert.equal(await shows(await photo(200, 150, 2).png().toBuffer()), false)
  assert.equal(await shows(await photo(200, 150, 2).grayscale().png().toBuffer()), false)
})

test('a few fine spots in a large picture do not show', async () => {
  const spot = await sharp(await stripes([240, 20, 20], [20, 20, 240]))
    .resize(8, 8, { kernel: 'nearest' })
    .png()
    .toBuffer()
  const picture = await photo(640, 480, 2)
    .composite([{ input: spot, left: 100, top: 100 }])
    .png()
    .toBuffer()
  assert.equal(await shows(picture), false)
})
