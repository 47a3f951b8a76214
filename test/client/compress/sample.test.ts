import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Pixels, sampled } from '../../../src/client/compress/pixels.ts'

/** Each row is of one value, its number. */
function numbered(width: number, height: number): Pixels {
  const data = new Uint8Array(4 * width * height)
  for (let row = 0; row < height; row++) data.fill(row & 255, 4 * width * row, 4 * width * (row + 1))
  return { data, width, height }
}

test('a sample is whole bands of 16 rows, as wide as the picture, at most a sixth of it, spread evenly', () => {
  const sides = [fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3000 })] as const
  fc.assert(
    fc.property(...sides, (width, height) => {
      const pixels = numbered(width, height)
      const sample = sampled(pixels)
      if (sample === pixels) return height < 16 * 6 * 4
      assert.equal(sample.width, width)
      assert.equal(sample.data.length, 4 * width * sample.height)
      assert.equal(sample.height % 16, 0)
      assert.ok(sample.height <= height / 6 && sample.height >= height / 6 - 16)
      for (let row = 0; row < sample.height; row++) {
        const from = 16 * 6 * Math.floor(row / 16) + 16 * 3 + (row % 16)
        assert.equal(sample.data[4 * width * row], from & 255)
        assert.equal(sample.data[4 * width * (row + 1) - 1], from & 255)
      }
      return true
    }),
  )
})

test('a small picture is its own sample', () => {
  const pixels = numbered(8, 383)
  assert.equal(sampled(pixels), pixels)
  assert.notEqual(sampled(numbered(8, 384)).height, 384)
})
