/** Conversion of HEIC, by our own decoder. */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { displayProfile } from '../../../src/client/compress/display-profile.ts'
import { profileKindOf } from '../../../src/client/compress/icc.ts'
import { type CompressOptions, compress } from '../../../src/client/node.ts'
import { readHeic } from '../../../src/formats/heic/heic.ts'
import { memorySource } from '../../../src/formats/image.ts'
import { corpus, DAMAGED } from '../../support/corpus.ts'
import { irot, type Property } from '../../support/images/avif/assembly.ts'
import {
  BLUE,
  codePoints,
  croppedTo,
  FOUR,
  GREEN,
  type HeicPlan,
  heic,
  profiled,
  RED,
  THREE,
  YELLOW,
} from '../../support/images/heic.ts'
import { cameraExif } from '../../support/images/private-metadata.ts'
import { blobOf } from '../pictures.ts'

const converted = (plan: HeicPlan = {}, options?: CompressOptions) => compress(blobOf(heic(plan)), options)

/** Colours at the centre of each quadrant, row by row. */
async function quarters(blob: Blob): Promise<number[][]> {
  const { data, info } = await sharp(await blob.bytes(), { ignoreIcc: true })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const start = info.channels * (Math.floor(y * info.height) * info.width + Math.floor(x * info.width))
    return [...data.subarray(start, start + info.channels)]
  }
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)]
}

async function assertShows(blob: Blob, expected: (number[] | null)[]): Promise<void> {
  const found = await quarters(blob)
  for (const [i, colour] of expected.entries()) {
    const isNear = colour?.every((value, channel) => Math.abs(value - found[i]![channel]!) <= 16) ?? true
    assert.ok(isNear, `quarter ${i} is ${found[i]}, not ${colour}`)
  }
}

test('converts HEIC to a JPEG of the same image', async () => {
  const { blob, type, typeIn, action, width, height, losesHdr } = await converted()
  assert.deepEqual(
    { type, typeIn, action, width, height, losesHdr },
    { type: 'image/jpeg', typeIn: 'image/heic', action: 'lossy', width: 64, height: 32, losesHdr: undefined },
  )
  await assertShows(blob, [RED, GREEN, BLUE, YELLOW])
})

test('applies rotation to the pixels', async () => {
  const { blob, width, height } = await converted({ properties: [irot(1)] })
  assert.deepEqual([width, height], [32, 64])
  await assertShows(blob, [GREEN, YELLOW, RED, BLUE])
})

test('applies a crop of any size', async () => {
  const cropped = (...properties: Property[]) =>
    converted({ more: [croppedTo(70, 128, 64, properties)], plan: { primary: 70 } })
  const upright = await cropped()
  assert.deepEqual([upright.width, upright.height], [128, 64])
  await assertShows(upright.blob, [RED, GREEN, BLUE, YELLOW])
  const rotated = await cropped(irot(1))
  assert.deepEqual([rotated.width, rotated.height], [64, 128])
  await assertShows(rotated.blob, [GREEN, YELLOW, RED, BLUE])
})

test('assembles tiles', async () => {
  const { blob, width } = await converted({ columns: 2 })
  assert.equal(width, 128)
  const right = await sharp(await blob.bytes())
    .extract({ left: 64, top: 0, width: 64, height: 32 })
    .png()
    .toBuffer()
  await assertShows(new Blob([new Uint8Array(right)]), [RED, GREEN, BLUE, [0, 0, 0]])
})

describe('colours', () => {
  const profileOf = async (blob: Blob) => (await sharp(await blob.bytes()).metadata()).icc ?? null

  test('stay Display P3, whether tagged by a profile or by a code point', async () => {
    const p3 = displayProfile(12)!
    const padded = Buffer.concat([p3, Buffer.alloc(3)])
    for (const property of [profiled(p3), profiled(padded), codePoints(12, 13)]) {
      const { blob } = await converted({ properties: [property] })
      assert.deepEqual(new Uint8Array((await profileOf(blob))!), p3)
      await assertShows(blob, [RED, GREEN, BLUE, YELLOW])
    }
    const shown = await sharp(await (await converted({ properties: [profiled(p3)] })).blob.bytes())
      .toColourspace('srgb')
      .raw()
      .toBuffer()
    assert.ok(shown[0]! > RED[0]! + 8, 'P3 red is more saturated than sRGB red')
  })

  test('need no profile if they are sRGB', async () => {
    assert.equal(await profileOf((await converted({ properties: [codePoints(1, 13)] })).blob), null)
  })

  test('in PQ or HLG are refused, because a JPEG of them would be pale', async () => {
    for (const transfer of [16, 18])
      await assert.rejects(converted({ properties: [codePoints(9, transfer)] }), {
        code: 'unsupported-type',
        message: /HDR \(PQ or HLG\)/,
      })
  })

  test('tagged by a code point get a generated profile', () => {
    assert.equal(profileKindOf(displayProfile(12)), 'rgb')
    assert.equal(profileKindOf(displayProfile(9)), 'rgb')
    assert.equal(displayProfile(1), null)
  })
})

test('converts HEIC with transparency to a lossless WebP', async () => {
  const { blob, type, action } = await converted({ transparent: true })
  assert.deepEqual([type, action], ['image/webp', 'lossless'])
  const found = await quarters(blob)
  assert.deepEqual(
    found.map(([, , , alpha]) => alpha! > 250),
    [true, true, true, false],
  )
})

test('drops a gain map and reports that; drops a depth map', async () => {
  const withGainMap = await converted({ auxiliaries: ['urn:com:apple:photo:2020:aux:hdrgainmap'] })
  assert.equal(withGainMap.losesHdr, true)
  const withDepth = await converted({ auxiliaries: ['urn:com:apple:photo:2018:aux:portraiteffectsmatte'] })
  assert.equal(withDepth.losesHdr, undefined)
  const plain = await converted()
  for (const { blob } of [withGainMap, withDepth])
    assert.deepEqual(await blob.bytes(), await plain.blob.bytes())
})

test('converts the primary image of several', async () => {
  const burst = heic({ plan: { primary: 3 }, columns: 2 })
  const { blob, width } = await compress(blobOf(burst))
  assert.equal(width, 64)
  await assertShows(blob, [null, null, BLUE, [0, 0, 0]])
})

test('reports the location, and strips it', async () => {
  const { blob, hasLocation } = await converted({ exif: cameraExif() })
  assert.equal(hasLocation, true)
  assert.equal((await sharp(await blob.bytes()).metadata()).exif, undefined)
})

test('refuses HEIC with convert: false, and in modes that change no pixels', async () => {
  for (const options of [{ convert: false }, { mode: 'lossless' }, { mode: 'original' }] as const)
    await assert.rejects(converted({}, options), { code: 'unsupported-type', message: /HEIC/ })
})

describe('only the primary image reaches the decoder', () => {
  test('other items in the file are removed', async () => {
    const file = heic({
      auxiliaries: ['urn:com:apple:photo:2020:aux:hdrgainmap'],
      more: [
        { id: 50, type: 'iden', data: new Uint8Array(4) },
        { id: 51, type: 'unci', data: new Uint8Array(400) },
        { id: 52, type: 'mski', data: new Uint8Array(400) },
        { id: 53, type: 'mime', contentType: 'application/rdf+xml', data: new Uint8Array(40) },
      ],
      plan: { references: [['dimg', 50, 50]] },
    })
    const { still, width } = await readHeic(memorySource(file))
    assert.equal(width, 64)
    const text = Buffer.from(await still()).toString('latin1')
    for (const type of ['iden', 'unci', 'mski', 'mime', 'hdrgainmap']) assert.ok(!text.includes(type), type)
    await assertShows((await compress(blobOf(file))).blob, [RED, GREEN, BLUE, YELLOW])
  })

  test('other kinds of derived images are refused', async () => {
    for (const kind of ['iden', 'iovl', 'unci', 'av01', 'tmap'])
      await assert.rejects(converted({ kind }), { code: 'unsupported-type' })
  })

  test('a grid with missing or mismatched tiles is refused', async () => {
    const incomplete = heic({ columns: 2, plan: { references: [] } })
    const at = Buffer.from(incomplete).lastIndexOf('hvc1')
    const changed = incomplete.slice()
    changed.set(Buffer.from('Exif'), at)
    await assert.rejects(compress(blobOf(changed)), { code: 'damaged-image', message: /HEIC/ })
  })
})

test('refuses a file truncated at any point', async () => {
  const file = heic({ transparent: true, exif: new Uint8Array(30) })
  for (let length = 40; length < file.length - THREE.length; length += 97) {
    const cut = blobOf(file.subarray(0, length))
    await assert.rejects(
      compress(cut),
      ({ code }) => code === 'damaged-image' || code === 'unsupported-type',
      `${length}`,
    )
  }
})

test('refuses a file with invalid image data after trying to decode it', async () => {
  const file = heic()
  const at = Buffer.from(file).indexOf(Buffer.from(FOUR))
  file.fill(0x55, at + 8, at + FOUR.length)
  const result = await compress(blobOf(file)).catch((error) => error)
  // A decoder may return a grey image instead of failing.
  assert.ok(result.type === 'image/jpeg' || result.code === 'unsupported-type')
})

/** Files from exiv2 (test/corpus/README.md): expected size, or refusal. Any other file must be converted. */
const EXPECTED: Record<string, [width: number, height: number] | RegExp> = {
  'Canon.HIF': /HDR \(PQ or HLG\)/,
  'Sony.HIF': [8640, 5760],
  'Stonehenge.heic': [300, 200],
  'heic.heic': [1280, 854],
  'konqi.heic': [3072, 4096],
}

test('converts files of phones and cameras from PINHOLE_CORPUS', async (t) => {
  const files = corpus(/\.(heic|heif|hif)$/i)
  if (files.length === 0) return t.skip('does not apply: PINHOLE_CORPUS has no HEIC')
  for (const { name, bytes } of files) {
    const expected = EXPECTED[basename(name)]
    if (expected instanceof RegExp || DAMAGED.test(name)) {
      const refusal = expected instanceof RegExp ? { message: expected } : { code: 'damaged-image' }
      await assert.rejects(compress(blobOf(bytes)), refusal, name)
      continue
    }
    const { width, height } = await readHeic(memorySource(bytes))
    if (expected) assert.deepEqual([width, height], expected, name)
    const { blob } = await compress(blobOf(bytes))
    const result = await sharp(await blob.bytes()).metadata()
    assert.deepEqual([result.width, result.height], [width, height], name)
  }
})
