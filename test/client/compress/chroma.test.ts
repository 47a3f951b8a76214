import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { fineColourShare, restoreChroma } from '../../../src/client/compress/chroma.ts'
import { keepsChroma } from '../../../src/client/compress/jpeg-quality.ts'
import type { Pixels } from '../../../src/client/compress/pixels.ts'
import { photo, rgba } from '../pictures.ts'

/** Chroma samples for 2 × 2 blocks, all at one brightness and far from clipping. */
interface Samples {
  columns: number
  rows: number
  cb: number[]
  cr: number[]
}

const samples: fc.Arbitrary<Samples> = fc
  .record({ columns: fc.integer({ min: 2, max: 12 }), rows: fc.integer({ min: 2, max: 12 }) })
  .chain(({ columns, rows }) => {
    const plane = fc.array(fc.integer({ min: -40, max: 40 }), {
      minLength: columns * rows,
      maxLength: columns * rows,
    })
    return fc.record({ columns: fc.constant(columns), rows: fc.constant(rows), cb: plane, cr: plane })
  })

const BRIGHTNESS = 128

/** Upsamples like libjpeg: weight 3 for the nearest sample and 1 for the next, in both directions. */
function decoded({ columns, rows, cb, cr }: Samples): Pixels {
  const [width, height] = [2 * columns, 2 * rows]
  const data = new Uint8ClampedArray(4 * width * height)
  const at = (plane: number[], x: number, y: number) =>
    plane[Math.min(Math.max(y, 0), rows - 1) * columns + Math.min(Math.max(x, 0), columns - 1)]!
  const spread = (plane: number[], x: number, y: number) => {
    const [near, next] = [x >> 1, (x >> 1) + (x % 2 === 0 ? -1 : 1)]
    const [nearRow, nextRow] = [y >> 1, (y >> 1) + (y % 2 === 0 ? -1 : 1)]
    return (
      (9 * at(plane, near, nearRow) +
        3 * at(plane, next, nearRow) +
        3 * at(plane, near, nextRow) +
        at(plane, next, nextRow)) /
      16
    )
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [blue, red] = [spread(cb, x, y), spread(cr, x, y)]
      data.set(
        [
          BRIGHTNESS + 1.402 * red,
          BRIGHTNESS - 0.344136 * blue - 0.714136 * red,
          BRIGHTNESS + 1.772 * blue,
          255,
        ],
        4 * (y * width + x),
      )
    }
  }
  return { data, width, height }
}

/** Downsamples like an encoder, by the mean of 2 × 2 blocks, and returns the sum of squared errors. */
function errorOf({ data, width }: Pixels, { columns, rows, cb, cr }: Samples): number {
  let error = 0
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const sum = [0, 0, 0]
      for (const [x, y] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const at = 4 * ((2 * row + y) * width + 2 * column + x)
        for (const channel of [0, 1, 2]) sum[channel]! += data[at + channel]! / 4
      }
      const [red, green, blue] = sum as [number, number, number]
      error += (-0.168736 * red - 0.331264 * green + 0.5 * blue - cb[row * columns + column]!) ** 2
      error += (0.5 * red - 0.418688 * green - 0.081312 * blue - cr[row * columns + column]!) ** 2
    }
  }
  return error
}

const copyOf = ({ data, ...size }: Pixels): Pixels => ({ data: data.slice(), ...size })

test('restoreChroma reduces the error of the next generation for any image', () => {
  fc.assert(
    fc.property(samples, (picture) => {
      const blurred = decoded(picture)
      const restored = copyOf(blurred)
      restoreChroma(restored)
      // Levels are integers, so half a level per channel can't be corrected.
      const rounding = picture.columns * picture.rows * 0.5
      assert.ok(errorOf(restored, picture) <= 0.8 * errorOf(blurred, picture) + rounding)
    }),
  )
})

test('restoreChroma removes most of the blur of a sharp colour edge', () => {
  const [columns, rows] = [16, 8]
  const cb = Array.from({ length: columns * rows }, (_, i) => (i % columns < 8 ? -40 : 40))
  const picture = { columns, rows, cb, cr: cb.map((value) => -value) }
  const blurred = decoded(picture)
  const restored = copyOf(blurred)
  restoreChroma(restored)
  assert.ok(errorOf(restored, picture) < 0.2 * errorOf(blurred, picture))
})

test('restoreChroma keeps luma to within half a level, and alpha exactly', () => {
  fc.assert(
    fc.property(samples, (picture) => {
      const before = decoded(picture)
      const after = copyOf(before)
      restoreChroma(after)
      for (let i = 0; i < before.data.length; i += 4) {
        const luma = ({ data }: Pixels) => 0.299 * data[i]! + 0.587 * data[i + 1]! + 0.114 * data[i + 2]!
        assert.ok(Math.abs(luma(after) - luma(before)) <= 0.5)
        assert.equal(after.data[i + 3], 255)
      }
    }),
  )
})

test('restoreChroma does not change grey or single-colour images of any size', () => {
  const side = fc.integer({ min: 1, max: 9 })
  fc.assert(
    fc.property(side, side, fc.uint8Array({ minLength: 3, maxLength: 3 }), (width, height, colour) => {
      const flat = { width, height, data: new Uint8Array(4 * width * height) }
      for (let i = 0; i < flat.data.length; i += 4) flat.data.set([...colour, 7], i)
      const gray = { width, height, data: flat.data.map((_, i) => ((i >> 2) * 37 * (colour[0]! + 1)) & 255) }
      for (const pixels of [flat, gray]) {
        const before = pixels.data.slice()
        restoreChroma(pixels)
        assert.deepEqual(pixels.data, before)
      }
    }),
  )
})

const keeps = async (picture: Buffer) => keepsChroma(fineColourShare(await rgba(picture)))

/** Stripes of two colours, one pixel wide. */
function stripes(one: number[], other: number[]) {
  const row = Array.from({ length: 64 }, (_, i) => (i % 2 ? one : other)).flat()
  const data = Buffer.from(Array.from({ length: 64 }, () => row).flat())
  return sharp(data, { raw: { width: 64, height: 64, channels: 3 } })
    .png()
    .toBuffer()
}

test('fine coloured lines keep their chroma, fine grey lines do not', async () => {
  assert.equal(await keeps(await stripes([240, 20, 20], [20, 20, 240])), true)
  assert.equal(await keeps(await stripes([240, 240, 240], [20, 20, 20])), false)
})

test('soft colours and grey grain do not keep their chroma', async () => {
  assert.equal(await keeps(await photo(200, 150, 2).png().toBuffer()), false)
  assert.equal(await keeps(await photo(200, 150, 2).grayscale().png().toBuffer()), false)
})

test('a few fine spots in a large image do not keep its chroma', async () => {
  const spot = await sharp(await stripes([240, 20, 20], [20, 20, 240]))
    .resize(8, 8, { kernel: 'nearest' })
    .png()
    .toBuffer()
  const picture = await photo(640, 480, 2)
    .composite([{ input: spot, left: 100, top: 100 }])
    .png()
    .toBuffer()
  assert.equal(await keeps(picture), false)
})
