/** Gain maps in JPEG: either the gain map still works after scrubbing, or only a plain SDR image is left. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { Refusal } from '../../src/errors.ts'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { withGainMapOf } from '../../src/formats/jpeg/gain-map.ts'
import { writeMpf } from '../../src/formats/jpeg/mpf.ts'
import { walkJpeg } from '../../src/formats/jpeg/walk.ts'
import { corpus } from '../support/corpus.ts'
import { appleHdr, HEADROOM, headroomOf } from '../support/images/apple-hdr.ts'
import { exifSegment } from '../support/images/jpeg.ts'
import { segment } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { cameraExif, photoshopBlock } from '../support/images/private-metadata.ts'
import {
  FIELDS_BY_CHANNEL,
  type GainMapped,
  hdrPixels,
  secondImage,
  type UltraHdr,
  ultraHdr,
} from '../support/images/ultra-hdr.ts'
import { decoded, scrub } from './subject.ts'

const first = await picture({ width: 96, height: 64 }).withIccProfile('p3').jpeg().toBuffer()
const second = await picture({ width: 48, height: 32, channels: 1, seed: 2 }).jpeg().toBuffer()
const colourful = await picture({ width: 48, height: 32, seed: 2 }).jpeg().toBuffer()
const extras = [exifSegment(cameraExif({ orientation: 1, density: 72 })), segment(0xed, photoshopBlock())]
const video = Buffer.from('\0\0\0\x18ftypmp42 SECRET video', 'latin1')

const bare: UltraHdr = { first, second }
const phone: UltraHdr = { ...bare, firstExtras: extras, secondExtras: extras }

/** `same`: an equivalent file, in case sharp does not find the gain map of `file`. */
async function assertKept(file: Uint8Array, same = file): Promise<Buffer> {
  const result = await scrub(file)
  assert.deepEqual(await hdrPixels(result.file), await hdrPixels(same), 'HDR pixels are unchanged')
  assert.deepEqual((await decoded(result.file)).pixels, (await decoded(file)).pixels)
  assert.equal(result.file.includes('SECRET'), false)
  const again = await scrub(result.file)
  assert.equal(again.unchanged, true, 'scrubbing it again changes nothing')
  return result.file
}

async function firstImage(file: Uint8Array): Promise<Uint8Array> {
  return file.subarray(0, (await walkJpeg(memorySource(file))).end)
}

async function assertPlain(file: Uint8Array): Promise<void> {
  const result = await scrub(file)
  assert.equal((await sharp(result.file).metadata()).gainMap, undefined)
  assert.deepEqual((await decoded(result.file)).pixels, (await decoded(file)).pixels)
  for (const trace of ['SECRET', 'MPF\0', 'hdrgm', '21496']) assert.equal(result.file.includes(trace), false)
  assert.equal(result.file.indexOf('\xff\xd8\xff', 2, 'latin1'), -1, 'one image is left')
}

describe('a gain map is kept', () => {
  const kept: Record<string, Buffer> = {
    'without other metadata': ultraHdr(bare),
    'from a phone': ultraHdr(phone),
    'followed by a video': Buffer.concat([ultraHdr(phone), video]),
    'listed only in XMP': ultraHdr({ ...phone, index: 'container' }),
    'with wrong offsets in its index': ultraHdr({ ...phone, shift: 7 }),
  }
  for (const [name, file] of Object.entries(kept)) {
    test(name, async () => {
      // sharp requires an index to find the gain map. The stored file has one.
      const stored = await assertKept(file, ultraHdr(phone))
      assert.ok(stored.length < file.length)
      const index = stored.indexOf('MPF\0')
      const header = stored.subarray(index + 4)
      const at = index + 4 + header.readUInt32BE(50 + 16 + 8)
      assert.equal(stored.toString('hex', at, at + 3), 'ffd8ff')
      assert.equal(at, header.readUInt32BE(50 + 4), 'the first image ends where the second starts')
      assert.equal(at + header.readUInt32BE(50 + 16 + 4), stored.length)
    })
  }

  test('with an index of two images whose offsets and lengths are zero', async () => {
    const { file } = await scrub(ultraHdr(phone))
    const index = file.indexOf('MPF\0') + 4
    const empty = writeMpf(0, 0, 0)
    const blank = Buffer.concat([file.subarray(0, index), empty, file.subarray(index + empty.length)])
    assert.ok((await assertKept(blank, file)).equals(file))
  })

  test('with a gain per channel', async () => {
    // sharp does not support such XMP, so this checks the text.
    const { file } = await scrub(ultraHdr({ ...phone, second: colourful, fields: FIELDS_BY_CHANNEL }))
    assert.ok(file.includes(FIELDS_BY_CHANNEL.elements) && file.includes('hdrgm:HDRCapacityMax="2.5"'))
    assert.equal(file.includes('SECRET'), false)
    assert.equal((await scrub(file)).unchanged, true)
  })

  test('in ISO 21496-1, without XMP', async () => {
    const iso = await (sharp(ultraHdr(bare)) as GainMapped).keepGainMap().resize(64).jpeg().toBuffer()
    assert.ok(iso.includes('urn:iso:std:iso:ts:21496:-1') && !iso.includes('hdrgm'))
    await assertKept(iso)
  })

  for (const { name, bytes } of corpus(/(^|\/)gain-map\.jpg$/)) {
    test(name, async () => {
      await assertKept(bytes)
    })
  }
})

describe('a gain map is dropped, and the primary image kept', async () => {
  const dropped: Record<string, Uint8Array> = {
    'a property that is not a number': ultraHdr({
      ...phone,
      fields: { ...FIELDS_BY_CHANNEL, attributes: 'hdrgm:Gamma="SECRET"' },
    }),
    'a gain map without its maximum gain': ultraHdr({
      ...phone,
      fields: { attributes: 'hdrgm:Gamma="1"', elements: '' },
    }),
    'a second image that is not declared in XMP': ultraHdr({ ...phone, silent: true }),
    'an index with wrong offsets, not declared in XMP': ultraHdr({ ...phone, shift: 7, silent: true }),
    'a preview': ultraHdr({ ...phone, silent: true, secondType: 0x010001 }),
    'an index whose images were removed': await firstImage(ultraHdr(phone)),
  }
  for (const [name, file] of Object.entries(dropped)) test(name, () => assertPlain(file))
})

describe("Apple's gain map", () => {
  for (const orientation of [1, 6]) {
    test(`kept, orientation ${orientation}`, async () => {
      const file = appleHdr({ first, second, orientation })
      const { file: stored } = await scrub(file)
      assert.equal(stored.includes('SECRET'), false)
      assert.deepEqual((await decoded(stored)).pixels, (await decoded(file)).pixels)
      assert.equal((await sharp(stored).metadata()).orientation, orientation)
      for (const trace of [
        'urn:com:apple:photo:2020:aux:hdrgainmap',
        'HDRGainMapVersion="65536"',
        'Apple iOS',
      ]) {
        assert.ok(stored.includes(trace), trace)
      }
      const later = await secondImage(stored)
      assert.deepEqual(await pixelsOf(later), await pixelsOf(second), 'the gain map is unchanged')
      assert.deepEqual(headroomOf(stored), HEADROOM)
      assert.equal((await scrub(stored)).unchanged, true, 'scrubbing it again changes nothing')
    })
  }

  test('the headroom is dropped when the second image is not a gain map', async () => {
    const file = appleHdr({
      first,
      second,
      auxiliaryType: 'urn:com:apple:photo:2018:aux:portraiteffectsmatte',
    })
    const { file: stored } = await scrub(file)
    for (const trace of ['SECRET', 'Apple iOS', 'MPF\0', 'HDRGainMap'])
      assert.equal(stored.includes(trace), false)
    assert.equal(stored.indexOf('\xff\xd8\xff', 2, 'latin1'), -1, 'one image is left')
  })

  test('a gain map in both Apple’s and Android’s format keeps both', async () => {
    const file = appleHdr({ first, second, android: true })
    const { file: stored } = await scrub(file)
    assert.equal(stored.includes('SECRET'), false)
    assert.ok((await sharp(stored).metadata()).gainMap)
    assert.ok(stored.includes('HDRGainMapVersion="65536"') && stored.includes('hdrgm:GainMapMax="2.5"'))
    assert.equal((await scrub(stored)).unchanged, true)
  })
})

describe('withGainMapOf', async () => {
  const originals: Record<string, Buffer> = {
    'Ultra HDR': ultraHdr(phone),
    'listed only in XMP': ultraHdr({ ...phone, index: 'container' }),
    'ISO 21496-1': await (sharp(ultraHdr(bare)) as GainMapped).keepGainMap().resize(64).jpeg().toBuffer(),
    "Apple's": appleHdr({ first, second }),
  }
  for (const [name, original] of Object.entries(originals)) {
    test(name, async () => {
      const base = await sharp(await firstImage(original))
        .keepIccProfile()
        .jpeg({ quality: 40, mozjpeg: true })
        .toBuffer()
      const file = await withGainMapOf(base, memorySource(original))
      assert.ok(file && file.length < original.length)
      assert.deepEqual(
        await pixelsOf(await firstImage(file)),
        await pixelsOf(base),
        'the primary image is the new one',
      )
      assert.deepEqual(await pixelsOf(await secondImage(file)), await pixelsOf(await secondImage(original)))
      const stored = await scrub(file)
      assert.equal(stored.unchanged, true, 'the server stores it unchanged')
      assert.equal(stored.file.includes('SECRET'), false)
      if (name === "Apple's") assert.deepEqual(headroomOf(file), HEADROOM)
      else assert.ok(await hdrPixels(file))
    })
  }

  test('returns `null` for an original without a gain map', async () => {
    assert.equal(await withGainMapOf(first, memorySource(first)), null)
    assert.equal(await withGainMapOf(first, memorySource(ultraHdr({ ...phone, silent: true }))), null)
  })
})

async function pixelsOf(file: Uint8Array): Promise<Buffer> {
  return sharp(file).raw().toBuffer()
}

test('refuses a file truncated inside its gain map', async () => {
  for (const index of ['mpf', 'container'] as const) {
    const file = ultraHdr({ ...phone, index })
    const end = (await firstImage(file)).length
    for (let place = end + 3; place < file.length; place++) {
      await assert.rejects(inspect(memorySource(file.subarray(0, place))), Refusal)
    }
  }
})
