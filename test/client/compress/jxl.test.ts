/** Conversion of JPEG XL, by our own decoder. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { start } from '../../../src/client/compress/codecs.ts'
import { compress } from '../../../src/client/node.ts'
import { bytes } from '../../support/images/avif/boxes.ts'
import { blobOf, meanOfDifferences, photo } from '../pictures.ts'

interface Encoder {
  encode(data: Uint8Array, width: number, height: number, options: object): Uint8Array
}

const OPTIONS = {
  effort: 3,
  quality: 100,
  progressive: false,
  epf: -1,
  lossyPalette: false,
  decodingSpeedTier: 0,
  photonNoiseIso: 0,
  lossyModular: false,
  lossless: true,
}

/** Encodes RGBA losslessly. */
async function jxl(data: Uint8Array, width: number, height: number): Promise<Uint8Array> {
  const { default: factory } = await import('@jsquash/jxl/codec/enc/jxl_enc.js')
  const path = fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/enc/jxl_enc.wasm'))
  const wasm = await WebAssembly.compile(new Uint8Array(await readFile(path)))
  const encoder = (await start(factory, wasm)) as unknown as Encoder
  return new Uint8Array(encoder.encode(data, width, height, OPTIONS))
}

const pixels = async (bytes: Uint8Array) => sharp(bytes).ensureAlpha().raw().toBuffer()

test('converts an opaque image to JPEG', async () => {
  const data = await photo(320, 240).ensureAlpha().raw().toBuffer()
  const { blob, type, typeIn, action, width, height } = await compress(blobOf(await jxl(data, 320, 240)))
  assert.deepEqual(
    { type, typeIn, action, width, height },
    { type: 'image/jpeg', typeIn: 'image/jxl', action: 'lossy', width: 320, height: 240 },
  )
  const result = await pixels(await blob.bytes())
  const difference = meanOfDifferences(result, data)
  assert.ok(difference < 6, `${difference}`)
})

test('converts an image with transparency to lossless WebP', async () => {
  const data = new Uint8Array(64 * 64 * 4)
  for (let i = 0; i < data.length; i++) data[i] = i % 4 === 3 ? (i >> 8) & 255 : (i * 7) & 255
  const { blob, type, action } = await compress(blobOf(await jxl(data, 64, 64)))
  assert.deepEqual([type, action], ['image/webp', 'lossless'])
  assert.deepEqual(new Uint8Array(await pixels(await blob.bytes())), data)
})

test('refuses an animated image', async () => {
  // 8 × 8; extra fields, no orientation, no intrinsic size, no preview, animation.
  const animated = bytes([0xff, 0x0a, 0b01000001, 0b00000100, 0b00000001, 0b10000000], new Uint8Array(40))
  await assert.rejects(compress(blobOf(animated)), { code: 'unsupported-type', message: /animated JPEG XL/ })
})

test('refuses a damaged image', async () => {
  const file = await jxl(await photo(64, 64).ensureAlpha().raw().toBuffer(), 64, 64)
  await assert.rejects(compress(blobOf(file.subarray(0, file.length / 2))), ({ code }) =>
    ['damaged-image', 'unsupported-type'].includes(code),
  )
})
