/** How photographs are encoded, seen from outside: by the tables of what comes out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { compress } from '../../../src/client/node.ts'
import { sourceOf } from '../../../src/formats/image.ts'
import { walkJpeg } from '../../../src/formats/jpeg/walk.ts'
import { blobOf, noise, photo } from '../pictures.ts'

/** The sum of the first table: the smaller, the finer brightness is. */
async function lumaTableSum(picture: Sharp): Promise<number> {
  const jpeg = await picture.jpeg({ quality: 97, chromaSubsampling: '4:2:0' }).toBuffer()
  const { blob, action } = await compress(blobOf(jpeg))
  assert.equal(action, 'lossy')
  const { quantisation } = await walkJpeg(sourceOf(await blob.bytes()))
  return quantisation[0]!.reduce((sum, value) => sum + value, 0)
}

/** Soft colours of every kind, the size of what a JPEG keeps of them. */
function colourful(): Sharp {
  return sharp(noise(3 * 80 * 60), { raw: { width: 80, height: 60, channels: 3 } }).resize(640, 480)
}

function texture(): Sharp {
  return sharp(noise(320 * 240), { raw: { width: 320, height: 240, channels: 1 } }).toColourspace('srgb')
}

test('brightness is finest where there is no colour, coarsest where colour is everywhere', async () => {
  const [plain, dense, colour] = await Promise.all([
    lumaTableSum(photo().grayscale().toColourspace('srgb')),
    lumaTableSum(texture()),
    lumaTableSum(colourful()),
  ])
  assert.ok(plain < dense, `${plain} < ${dense}`)
  assert.ok(dense < colour, `${dense} < ${colour}`)
})

test('whatever the picture, a second run leaves it alone', async () => {
  for (const picture of [photo(), photo().grayscale(), texture(), colourful()]) {
    const jpeg = await picture.jpeg({ quality: 97 }).toBuffer()
    const { blob } = await compress(blobOf(jpeg))
    const again = await compress(blob)
    assert.equal(again.action, 'unchanged')
    assert.equal(again.bytesOut, blob.size)
  }
})
