/** The quick encoding of photographs, from their own DCT coefficients. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import sharp, { type JpegOptions, type Sharp } from 'sharp'
import type { Coefficients } from '../../../src/client/compress/dct/coefficients.ts'
import { encodeFrame } from '../../../src/client/compress/dct/encode.ts'
import { requantisationOf } from '../../../src/client/compress/dct/quantise.ts'
import { readCoefficients as read } from '../../../src/client/compress/dct/read.ts'
import { coefficientsOf, planesOf, resizedPlane } from '../../../src/client/compress/dct/transform.ts'
import { stepsAt } from '../../../src/client/compress/jpeg-quality.ts'
import { compress } from '../../../src/client/node.ts'
import type { Line } from '../../../src/client/types.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { DHT, DQT, SOS } from '../../../src/formats/jpeg/segments.ts'
import { walkJpeg } from '../../../src/formats/jpeg/walk.ts'
import { corpus, DAMAGED } from '../../support/corpus.ts'
import { beforeLastScan } from '../../support/images/jpeg.ts'
import { codeJpeg, segment } from '../../support/images/jpeg-coder.ts'
import { blobOf, cameraJpeg, meanDifference, noise, photo, rgba, sameBytes, screenshot } from '../pictures.ts'

/** JPEG files in the project's own corpus that can be read. */
const MIN_CORPUS_FILES = 3

/** So fast that only encoding time matters. */
const FAST: Line = { bytesPerSecond: 1e9, isBusy: true }
/** So slow that only size matters. */
const SLOW: Line = { bytesPerSecond: 1, isBusy: false }

let camera: Buffer
let best: Buffer
before(async () => {
  camera = await cameraJpeg(1600, 1200)
  best = await compressed(camera)
})

async function compressed(file: Uint8Array, line?: Line): Promise<Buffer> {
  const { blob } = await compress(blobOf(file), line && { line })
  return Buffer.from(await blob.arrayBuffer())
}

const readCoefficients = async (jpeg: Uint8Array) => read(jpeg, await walkJpeg(memorySource(jpeg)))
const jpegOf = (frame: Uint8Array) => Buffer.concat([Buffer.of(0xff, 0xd8), frame, Buffer.of(0xff, 0xd9)])
const pixelsOf = (jpeg: Uint8Array) => sharp(jpeg, { ignoreIcc: true }).raw().toBuffer()

test('coefficients come back unchanged, whatever the coding and the size', async () => {
  const codings: JpegOptions[] = [
    { quality: 90 },
    { quality: 100, chromaSubsampling: '4:4:4' },
    { quality: 30, optimiseCoding: false },
    { quality: 85, progressive: true },
    { quality: 85, mozjpeg: true },
    { quality: 95, mozjpeg: true, chromaSubsampling: '4:4:4' },
  ]
  for (const [width, height] of [
    [640, 480],
    [33, 17],
    [8, 8],
    [1, 1],
    [250, 1],
  ] as const) {
    for (const coding of codings) {
      const jpeg = await photo(width, height).jpeg(coding).toBuffer()
      const image = await readCoefficients(jpeg)
      assert.ok(image, JSON.stringify(coding))
      const again = await pixelsOf(jpegOf(encodeFrame(image)))
      assert.ok(again.equals(await pixelsOf(jpeg)), `${width}x${height} ${JSON.stringify(coding)}`)
    }
  }
})

/** The same image with a scan for each component. `image`: with full chroma, and sides that are multiples of 8. */
async function inSeparateScans(image: Coefficients): Promise<Buffer> {
  const segmentsOf = async (jpeg: Buffer, markers: number[]) => {
    const { segments } = await walkJpeg(memorySource(jpeg))
    return segments
      .filter(({ marker }) => markers.includes(marker))
      .map(({ offset, length }) => jpeg.subarray(offset, offset + length))
  }
  const scans = await Promise.all(
    image.components.map(async (component, index) => {
      const own = Array.from({ length: (image.blockStarts.length - 1) / 3 }, (_, mcu) =>
        image.coefficients.subarray(...image.blockStarts.subarray(3 * mcu + index, 3 * mcu + index + 2)),
      )
      const blockStarts = new Int32Array(own.length + 1)
      for (const [at, { length }] of own.entries()) blockStarts[at + 1] = blockStarts[at]! + length
      const part = {
        ...image,
        components: [component],
        coefficients: Int32Array.from(own.flatMap((block) => [...block])),
        blockStarts,
      }
      return segmentsOf(jpegOf(encodeFrame(part)), [DHT, SOS])
    }),
  )
  const whole = await segmentsOf(jpegOf(encodeFrame(image)), [DQT, 0xc0])
  return jpegOf(Buffer.concat([...whole, ...scans.flat()]))
}

test('coefficients of a file with a scan for each component are those of a single scan', async () => {
  const jpeg = await photo(64, 40, 120).jpeg({ quality: 98, chromaSubsampling: '4:4:4' }).toBuffer()
  const image = await readCoefficients(jpeg)
  const separate = await inSeparateScans(image!)
  assert.ok((await pixelsOf(separate)).equals(await pixelsOf(jpeg)), 'the file is right')
  const again = await readCoefficients(separate)
  assert.deepEqual(again?.coefficients, image?.coefficients)
  assert.deepEqual(again?.blockStarts, image?.blockStarts)
})

test('a quantisation table that changes between scans applies to the components after it', async () => {
  const jpeg = codeJpeg({ width: 64, height: 40, sampling: '1x1,1x1,1x1', separateScans: true })
  const changed = beforeLastScan(jpeg, segment(DQT, [0, ...new Array(64).fill(3)]))
  const image = await readCoefficients(changed)
  assert.deepEqual(
    image?.components.map(({ steps }) => steps[0]),
    [8, 8, 3],
  )
})

test('a damaged file is refused or read to the end, but nothing is thrown', async () => {
  const files = [
    await photo(96, 64).jpeg({ quality: 90 }).toBuffer(),
    await photo(96, 64).jpeg({ quality: 90, mozjpeg: true }).toBuffer(),
  ]
  const scanStart = (file: Buffer) => file.indexOf(Buffer.of(0xff, 0xda)) + 20
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.integer({ min: 0, max: 254 })), {
        minLength: 1,
        maxLength: 8,
      }),
      async (file, changes) => {
        const damaged = Buffer.from(file)
        const start = scanStart(file)
        for (const [at, value] of changes) {
          const to = start + Math.floor(at * (file.length - 2 - start))
          // Markers stay, so that the file remains valid outside of its coded data.
          if (damaged[to] !== 0xff && damaged[to - 1] !== 0xff) damaged[to] = value
        }
        const image = await readCoefficients(damaged).catch((error) => {
          assert.equal(error.code, 'damaged-image')
          return null
        })
        if (image === null) return
        const again = jpegOf(
          encodeFrame(image, requantisationOf(image, { luma: stepsAt(80), chroma: stepsAt(80) })),
        )
        const { width, height } = await sharp(again).metadata()
        assert.deepEqual([width, height], [96, 64])
      },
    ),
    { numRuns: 200 },
  )
})

test('planes are those of a decoder, in full size and smaller', async () => {
  const jpeg = await photo(256, 160).jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer()
  const image = await readCoefficients(jpeg)
  const planes = planesOf(image!, [8, 8, 8])
  const rgb = await pixelsOf(jpeg)
  for (let at = 0; at < 256 * 160; at += 7) {
    const [y = 0, cb = 0, cr = 0] = planes.map(({ data }) => data[at]!)
    const red = Math.min(255, Math.max(0, y + 1.402 * (cr - 128)))
    const blue = Math.min(255, Math.max(0, y + 1.772 * (cb - 128)))
    assert.ok(Math.abs(red - rgb[3 * at]!) <= 3 && Math.abs(blue - rgb[3 * at + 2]!) <= 3)
  }
  for (const eighths of [1, 2, 3, 5]) {
    const [small, left] = planesOf(image!, [eighths, 0, 0])
    assert.deepEqual([small!.width, small!.height], [32 * eighths, 20 * eighths])
    assert.equal(left!.data.length, 0)
    const scaled = resizedPlane(planes[0]!, small!)
    const difference = small!.data.reduce((sum, value, at) => sum + Math.abs(value - scaled.data[at]!), 0)
    assert.ok(difference / small!.data.length < 3, `${eighths}: ${difference / small!.data.length}`)
  }
})

test('planes come back from coefficients', async () => {
  const image = await readCoefficients(await photo(250, 158).jpeg({ quality: 95 }).toBuffer())
  const planes = planesOf(image!, [8, 8, 8])
  const again = planesOf(coefficientsOf(planes, new Uint16Array(64).fill(1)), [8, 8, 8])
  for (const [index, { data, width, height }] of planes.entries()) {
    assert.deepEqual([again[index]!.width, again[index]!.height], [width, height])
    assert.ok(data.every((value, at) => Math.abs(value - again[index]!.data[at]!) <= 2))
  }
})

test('is used when encoding time dominates, with a result that is similar and hardly larger', async () => {
  const quick = await compressed(camera, FAST)
  assert.ok(!quick.equals(best))
  assert.ok(quick.length <= 1.25 * best.length, `${quick.length} and ${best.length}`)
  assert.ok((await meanDifference(quick, camera)) < 6)
})

/** Pixel art enlarged twice, as a screenshot of a game. */
function pixelArt(): Sharp {
  const palette = noise(3 * 12, 5)
  const pixels = Buffer.concat(
    [...noise(320 * 240, 6)].map((value) => palette.subarray(3 * (value % 12), 3 * (value % 12) + 3)),
  )
  const raw = { width: 320, height: 240, channels: 3 } as const
  return sharp(pixels, { raw }).resize(640, 480, { kernel: 'nearest' })
}

/** Film grain, or a photograph in the dark. */
function grain(): Sharp {
  return sharp(noise(640 * 480), { raw: { width: 640, height: 480, channels: 1 } }).toColourspace('srgb')
}

test('is used for pixel art and noise on any connection, with a finer quality', async () => {
  for (const picture of [pixelArt(), grain()]) {
    for (const chromaSubsampling of ['4:4:4', '4:2:0']) {
      const file = await picture.clone().jpeg({ quality: 96, chromaSubsampling }).toBuffer()
      const result = await compressed(file)
      sameBytes(result, await compressed(file, FAST))
      const difference = await meanDifference(result, file)
      assert.ok(difference < 5, `${chromaSubsampling}: ${difference}`)
    }
  }
})

test('is not used when the connection is the bottleneck', async () => {
  assert.ok((await compressed(camera, SLOW)).equals(best))
})

test('also reads progressive files', async () => {
  const progressive = await sharp(camera).jpeg({ quality: 96, progressive: true }).toBuffer()
  const quick = await compressed(progressive, FAST)
  assert.equal((await sharp(quick).metadata()).isProgressive, false)
  assert.ok((await meanDifference(quick, camera)) < 6)
})

test('keeps colours and orientation, of the preview too', async () => {
  const noisy = await sharp(await photo(1200, 900, 90).png().toBuffer())
    .jpeg({ quality: 96 })
    .toBuffer()
  for (const [orientation, ...size] of [
    [1, 1200, 900],
    // Mirrored, upside down, and rotated.
    [2, 1200, 900],
    [3, 1200, 900],
    [6, 900, 1200],
  ] as const) {
    const file = await sharp(noisy)
      .withMetadata({ orientation })
      .withIccProfile('p3')
      .jpeg({ quality: 96 })
      .toBuffer()
    const { blob, preview, width, height } = await compress(blobOf(file), { line: FAST })
    assert.deepEqual([width, height], size)
    const quick = Buffer.from(await blob.arrayBuffer())
    const { icc, orientation: kept = 1, isProgressive } = await sharp(quick).metadata()
    // The best encoding is progressive.
    assert.deepEqual([kept, isProgressive], [orientation, false])
    assert.deepEqual(icc, (await sharp(file).metadata()).icc)
    const upright = await sharp(quick).rotate().keepIccProfile().png().toBuffer()
    const expected = await sharp(file).rotate().keepIccProfile().png().toBuffer()
    assert.ok((await meanDifference(upright, expected)) < 20, `orientation ${orientation}`)
    const small = Buffer.from(await preview!.arrayBuffer())
    const about = await sharp(small).metadata()
    assert.deepEqual([about.orientation ?? 1, about.icc], [1, icc])
    const scaled = await sharp(expected).resize(about.width, about.height).keepIccProfile().png().toBuffer()
    const mirrored = await sharp(scaled).flop().keepIccProfile().png().toBuffer()
    const difference = await meanDifference(small, scaled)
    assert.ok(2 * difference < (await meanDifference(small, mirrored)), `preview, orientation ${orientation}`)
  }
})

test('keeps the resolution of colour', async () => {
  const full = await sharp(camera).jpeg({ quality: 96, chromaSubsampling: '4:4:4' }).toBuffer()
  assert.equal((await sharp(await compressed(full, FAST)).metadata()).chromaSubsampling, '4:4:4')
})

test('is not used for components that are not YCbCr', async () => {
  const rgb = Buffer.from(camera)
  const frame = rgb.indexOf(Buffer.of(0xff, 0xc0))
  const scan = rgb.indexOf(Buffer.of(0xff, 0xda))
  ;[...'RGB'].forEach((id, index) => {
    rgb[frame + 10 + 3 * index] = id.charCodeAt(0)
    rgb[scan + 5 + 2 * index] = id.charCodeAt(0)
  })
  assert.equal(await readCoefficients(rgb), null)
  const jfif = Buffer.from('ffe000104a46494600010200000100010000', 'hex')
  assert.ok(await readCoefficients(Buffer.concat([rgb.subarray(0, 2), jfif, rgb.subarray(2)])))
})

test('does not recompress its own result', async () => {
  const quick = await compressed(camera, FAST)
  assert.ok((await compressed(quick, FAST)).equals(quick))
  assert.ok((await compressed(quick)).equals(quick))
})

test('coefficients of real files come back unchanged', async () => {
  let read = 0
  for (const { name, bytes } of corpus(/\.jpe?g$/)) {
    if (DAMAGED.test(name)) continue
    const image = await readCoefficients(bytes).catch(() => null)
    if (image === null) continue
    read++
    const again = await pixelsOf(jpegOf(encodeFrame(image)))
    assert.ok(again.equals(await pixelsOf(bytes)), name)
  }
  assert.ok(read >= MIN_CORPUS_FILES, `${read}`)
})

test('a screenshot that is encoded quickly keeps every pixel, including the colour of transparent ones', async () => {
  const picture = await photo(900, 500, 4).png().toBuffer()
  const page = await screenshot(1000, 900)
    .composite([{ input: picture, left: 50, top: 300 }])
    .png()
    .toBuffer()
  const { data, width, height } = await rgba(page)
  for (let at = 3; at < data.length; at += 4) data[at] = at % 3 === 0 ? 0 : 255
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
  const quick = await compressed(png, FAST)
  assert.ok(quick.length < 0.8 * png.length)
  assert.deepEqual((await rgba(quick)).data, data)
})
