/** Detection of locations in AVIF files. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coded, noise, type Plan, still } from '../../support/images/avif/assembly.ts'
import { box, bytes, u16, u32 } from '../../support/images/avif/boxes.ts'
import { C2PA_UUID, exif, uuid, XMP_TYPE, XMP_UUID, xmp } from '../../support/images/avif/private.ts'
import { scrub } from '../subject.ts'

const picture = await coded(noise(64, 48))

describe('hasLocation', () => {
  const located: Record<string, Plan> = {
    'in Exif': { items: [{ id: 2, type: 'Exif', data: exif(true) }] },
    'in Exif, in several extents': { items: [{ id: 2, type: 'Exif', data: exif(true), pieces: 7 }] },
    'in XMP': { items: [{ id: 2, type: 'mime', contentType: XMP_TYPE, data: xmp('exif:GPSLatitude') }] },
    'in an XMP box': { afterData: [uuid(XMP_UUID, xmp('exif:GPSLatitude'))] },
    'in user data': { beforeData: [box('moov', box('udta', box('\u00a9xyz', u16(20, 0), '+51.5-0.1/')))] },
  }
  for (const [name, plan] of Object.entries(located)) {
    test(`is true: ${name}`, async () => assert.equal((await scrub(still(picture, plan))).hasLocation, true))
  }

  const unlocated: Record<string, Plan> = {
    'Exif without a location': { items: [{ id: 2, type: 'Exif', data: exif(false) }] },
    'invalid Exif': { items: [{ id: 2, type: 'Exif', data: bytes(u32(0xfffffff0), 'MM') }] },
    'Exif of three bytes': { items: [{ id: 2, type: 'Exif', data: bytes('abc') }] },
    'XMP without a location': {
      items: [{ id: 2, type: 'mime', contentType: XMP_TYPE, data: xmp('dc:creator') }],
    },
    'another box': { afterData: [uuid(C2PA_UUID, xmp('exif:GPSLatitude'))] },
  }
  for (const [name, plan] of Object.entries(unlocated)) {
    test(`is false: ${name}`, async () =>
      assert.equal((await scrub(still(picture, plan))).hasLocation, false))
  }
})
