import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Pixels, sampled } from '../../../src/client/compress/pixels.ts'
import { extent } from '../../support/extent.ts'

/** Each pixel is its own number. */
function numbered(width: number, height: number): Pixels {
  const numbers = new Uint32Array(width * height).map((_, i) => i)
  return { data: new Uint8Array(numbers.buffer), width, height }
}

/** Where the first pixel of each tile of the sample stood, after a look at the others. */
function placesOf({ data, width, height }: Pixels, original: Pixels): { row: number; column: number }[] {
  const numbers = new Uint32Array(data.buffer)
  const places: { row: number; column: number }[] = []
  for (let y = 0; y < height; y += 16) {
    for (let x = 0; x < width; x += 64) {
      const first = numbers[y * width + x]!
      for (let line = 0; line < 16; line++) {
        for (const across of [0, 63]) {
          assert.equal(numbers[(y + line) * width + x + across], first + line * original.width + across)
        }
      }
      places.push({ row: Math.floor(first / original.width), column: first % original.width })
    }
  }
  return places
}

test('a sample is whole tiles that an encoder would see alike, none twice, an eighth of the picture at most', () => {
  const sides = [fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 900 })] as const
  fc.assert(
    fc.property(...sides, (width, height) => {
      const pixels = numbered(width, height)
      const sample = sampled(pixels)
      if (sample === pixels) return width * height < 64 * 16 * 8 * 48 || width < 64 || height < 16
      const places = placesOf(sample, pixels)
      for (const { row, column } of places) assert.deepEqual([row % 16, column % 64], [0, 0])
      assert.equal(new Set(places.map(({ row, column }) => `${row} ${column}`)).size, places.length)
      return sample.width * sample.height <= (width * height) / 8
    }),
    { numRuns: extent(40, 10) },
  )
})

test('it has something of every column and of nearly every band, and no more of a large picture', () => {
  const pixels = numbered(1280, 960)
  const places = placesOf(sampled(pixels), pixels)
  assert.equal(new Set(places.map(({ column }) => column)).size, 20)
  assert.ok(new Set(places.map(({ row }) => row)).size >= 55)
  const large = sampled(numbered(4000, 3000))
  assert.ok(large.width * large.height <= 180_000)
})

test('a small picture is its own sample', () => {
  const pixels = numbered(160, 120)
  assert.equal(sampled(pixels), pixels)
})
