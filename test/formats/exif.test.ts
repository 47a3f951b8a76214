/** Exif: reading, writing back the minimal block, and robustness against hostile input. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { type ExifFacts, minimalExif, readExif } from '../../src/formats/metadata/exif.ts'
import { extent } from '../support/extent.ts'
import { exifSegment } from '../support/images/jpeg.ts'
import { withSegments } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { cameraExif, tiff } from '../support/images/private-metadata.ts'

const whole = fc.integer({ min: 1, max: 2 ** 32 - 1 })
const rational = fc.tuple(whole, whole).map(([numerator, denominator]) => ({ numerator, denominator }))

test('minimal Exif round-trips', () => {
  const facts: fc.Arbitrary<Partial<ExifFacts>> = fc.record(
    {
      orientation: fc.integer({ min: 1, max: 8 }),
      xResolution: rational,
      yResolution: rational,
      resolutionUnit: fc.integer({ min: 1, max: 3 }),
      isAdobeRgb: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(facts, (some) => {
      const written = minimalExif({ ...some, hasLocation: true })
      const { orientation, xResolution, yResolution, isAdobeRgb = false } = some
      assert.equal(written === null, !orientation && !xResolution && !yResolution && !isAdobeRgb)
      if (!written) return
      const read = readExif(written)
      assert.deepEqual(
        [read.orientation, read.xResolution, read.yResolution, read.isAdobeRgb, read.hasLocation],
        [orientation, xResolution, yResolution, isAdobeRgb, false],
      )
      assert.deepEqual(minimalExif(read), written)
    }),
  )
})

test('reading arbitrary bytes never throws', () => {
  const header = fc.constantFrom(
    'II*\0\x08\0\0\0',
    'MM\0*\0\0\0\x08',
    'Exif\0\0MM\0*\0\0\0\x08',
    'II*\0\xff\xff\xff\xff',
    '',
  )
  fc.assert(
    fc.property(header, fc.uint8Array({ maxLength: 200, size: 'max' }), (start, rest) => {
      const read = readExif(Buffer.concat([Buffer.from(start, 'latin1'), rest]))
      assert.ok(read.orientation === undefined || (read.orientation >= 1 && read.orientation <= 8))
      minimalExif(read)
    }),
    { numRuns: extent(2000, 400) },
  )
})

test('truncation at any offset never changes the orientation', () => {
  const exif = cameraExif({ orientation: 6, density: 300 })
  for (let length = 0; length < exif.length; length++) {
    const read = readExif(exif.subarray(0, length))
    assert.ok(read.orientation === undefined || read.orientation === 6)
  }
})

test('a location requires non-zero coordinates', () => {
  const located = (entries: Parameters<typeof tiff>[0]) =>
    readExif(tiff([], [{ pointer: 0x8825, entries }])).hasLocation
  assert.equal(readExif(cameraExif()).hasLocation, true)
  assert.equal(readExif(cameraExif({ location: false })).hasLocation, false)
  assert.equal(located([]), false)
  assert.equal(located([{ tag: 0, type: 7, value: [2, 3, 0, 0] }]), false, 'only a version')
  assert.equal(located([{ tag: 2, type: 5, value: [0, 0, 0, 0, 0, 0] }]), false, 'no GPS fix: 0/0')
  assert.equal(located([{ tag: 2, type: 5, value: [0, 1, 0, 1, 0, 1] }]), true, 'on the equator')
})

test('Adobe RGB is recognized by the index of its option files', () => {
  assert.equal(readExif(cameraExif({ interoperability: 'R03' })).isAdobeRgb, true)
  assert.equal(readExif(cameraExif({ interoperability: 'R98' })).isAdobeRgb, false)
  assert.equal(readExif(cameraExif()).isAdobeRgb, false)
})

test('values of a wrong type or out of range are ignored', () => {
  for (const value of [[0], [9], [65_535]]) {
    assert.equal(readExif(tiff([{ tag: 0x0112, type: 3, value }])).orientation, undefined)
  }
  assert.equal(readExif(tiff([{ tag: 0x0112, type: 4, value: [6] }])).orientation, undefined)
  assert.equal(readExif(tiff([{ tag: 0x011a, type: 5, value: [72, 0] }])).xResolution, undefined)
})

test('sharp reads the minimal Exif', async () => {
  const written = minimalExif({
    orientation: 7,
    xResolution: { numerator: 2400, denominator: 10 },
    yResolution: { numerator: 240, denominator: 1 },
    resolutionUnit: 2,
    hasLocation: false,
  })!
  const { orientation, density } = await sharp(
    withSegments(await picture().jpeg().toBuffer(), exifSegment(written)),
  ).metadata()
  assert.deepEqual([orientation, density], [7, 240])
})
