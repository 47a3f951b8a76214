import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Pixels, sampled } from '../../../src/client/compress/pixels.ts'
import { extent } from '../../support/extent.ts'

/** The value of each pixel is its index. */
function numbered(width: number, height: number): Pixels {
  const numbers = new Uint32Array(width * height).map((_, i) => i)
  return { data: new Uint8Array(numbers.buffer), width, height }
}

/** The original position of each tile of the sample. Asserts that the tiles are contiguous. */
function positionsOf({ data, width, height }: Pixels, original: Pixels): { row: number; column: number }[] {
  const numbers = new Uint32Array(data.buffer)
  const positions: { row: number; column: number }[] = []
  for (let y = 0; y < height; y += 16) {
    for (let x = 0; x < width; x += 64) {
      const first = numbers[y * width + x]!
      for (let dy = 0; dy < 16; dy++) {
        for (const dx of [0, 63]) {
          assert.equal(numbers[(y + dy) * width + x + dx], first + dy * original.width + dx)
        }
      }
      positions.push({ row: Math.floor(first / original.width), column: first % original.width })
    }
  }
  return positions
}

test('a sample consists of distinct whole tiles, aligned to MCUs, and at most an eighth of the image', () => {
  const sides = [fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 900 })] as const
  fc.assert(
    fc.property(...sides, (width, height) => {
      const pixels = numbered(width, height)
      const sample = sampled(pixels)
      if (sample === pixels) return width * height < 64 * 16 * 8 * 48 || width < 64 || height < 16
      const positions = positionsOf(sample, pixels)
      for (const { row, column } of positions) assert.deepEqual([row % 16, column % 64], [0, 0])
      assert.equal(new Set(positions.map(({ row, column }) => `${row} ${column}`)).size, positions.length)
      return sample.width * sample.height <= (width * height) / 8
    }),
    { numRuns: extent(40, 10) },
  )
})

test('a sample covers all columns and almost all rows of tiles, and is bounded for large images', () => {
  const pixels = numbered(1280, 960)
  const positions = positionsOf(sampled(pixels), pixels)
  assert.equal(new Set(positions.map(({ column }) => column)).size, 20)
  assert.ok(new Set(positions.map(({ row }) => row)).size >= 55)
  const large = sampled(numbered(4000, 3000))
  assert.ok(large.width * large.height <= 180_000)
})

test('a small image is its own sample', () => {
  const pixels = numbered(160, 120)
  assert.equal(sampled(pixels), pixels)
})
