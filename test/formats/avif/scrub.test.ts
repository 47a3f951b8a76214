/** Scrubbing removes private data from AVIF files. Everything that viewers show stays, at the same offset. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  alphaKind,
  assemble,
  coded,
  grid,
  image,
  irot,
  ispe,
  noise,
  type Plan,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, largeBox, u32 } from '../../support/images/avif/boxes.ts'
import { C2PA_UUID, exif, SECRET, uuid, XMP_TYPE, XMP_UUID, xmp } from '../../support/images/avif/private.ts'
import { scrub } from '../subject.ts'
import { assertScrubbed, corpus, decoded } from './subject.ts'

const picture = await coded(noise(64, 48))
const small = await coded(noise(16, 12))

const thumbnail = { ...image(9, small), hidden: true }

describe('files encoded with sharp', () => {
  test('loses Exif, XMP and location; keeps profile, orientation and pixels', async () => {
    const file = await noise(60, 40)
      .withIccProfile('p3')
      .withExif({
        IFD0: { Make: SECRET, Orientation: '6' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' },
      })
      .withXmp(new TextDecoder().decode(xmp('exif:UserComment')))
      .avif({ effort: 0 })
      .toBuffer()
    const result = await assertScrubbed(file)
    assert.equal(result.hasLocation, true)
    const after = await decoded(result.file)
    assert.deepEqual([after.exif, after.xmp, after.icc !== undefined], [undefined, undefined, true])
    assert.ok(result.file.length < file.length, 'the metadata leaves no zeros')
  })
})

describe('real files', () => {
  for (const { name, file } of corpus()) {
    test(name, async () => {
      const { exif: _exif, xmp: _xmp, ...wanted } = await decoded(file)
      const result = await scrub(file)
      const { type, width, height, animated } = result
      assert.deepEqual([type, width, height, animated], ['image/avif', wanted.width, wanted.height, false])
      assert.deepEqual(await decoded(result.file), { ...wanted, exif: undefined, xmp: undefined })
      for (const trace of ['SECRET', 'Paint.NET', 'cavif'])
        assert.equal(Buffer.from(result.file).includes(trace), false)
      assert.equal((await scrub(result.file)).unchanged, true, 'scrubbing it again changes nothing')
    })
  }
})

describe('handcrafted files', () => {
  const files: Record<string, Plan> = {
    'an Exif item': { items: [{ id: 2, type: 'Exif', data: exif(false) }], references: [['cdsc', 2, 1]] },
    'an XMP item': {
      items: [{ id: 2, type: 'mime', contentType: XMP_TYPE, data: xmp('dc:creator') }],
      references: [['cdsc', 2, 1]],
    },
    'Exif and XMP in idat': {
      items: [
        { id: 2, type: 'Exif', data: exif(false), inIdat: true },
        { id: 3, type: 'mime', contentType: XMP_TYPE, data: xmp('dc:creator'), inIdat: true, pieces: 3 },
      ],
      references: [
        ['cdsc', 2, 1],
        ['cdsc', 3, 1],
      ],
    },
    '32-bit item IDs': {
      wideIds: true,
      items: [{ id: 70_000, type: 'Exif', data: exif(false) }],
      references: [['cdsc', 70_000, 1]],
    },
    'an item of any other type': { items: [{ id: 2, type: 'uri ', name: SECRET, data: bytes(SECRET) }] },
    'an item without data': { items: [{ id: 2, type: 'Exif', name: SECRET }] },
    'XML and unknown boxes in meta': {
      metaExtras: [
        fullBox('xml ', 0, 0, SECRET),
        uuid(XMP_UUID, SECRET),
        box('what', SECRET),
        box('free', SECRET),
      ],
    },
    'a data reference to another file': {
      metaExtras: [
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 0, `file:///home/${SECRET}\0`))),
      ],
    },
    'boxes before meta': { beforeMeta: [uuid(XMP_UUID, SECRET), box('free', SECRET)] },
    'boxes before the data': {
      beforeData: [
        uuid(C2PA_UUID, SECRET),
        largeBox('junk', SECRET),
        box('skip', SECRET),
        box('moof', SECRET),
      ],
    },
    'a moov without tracks': { beforeData: [box('moov', box('udta', SECRET))] },
    'boxes after the data': { afterData: [box('free', [0]), uuid(C2PA_UUID, SECRET), box('free', [0])] },
    'the video of a motion photo': { afterData: [box('mpvd', SECRET)] },
    'a second file after the first': {
      afterData: [box('ftyp', 'mp42', u32(0)), box('moov', SECRET), bytes(SECRET)],
    },
    'bytes after the last box': { afterData: [bytes(SECRET)] },
    'a few bytes after the last box': { afterData: [bytes('SECRET')] },
    'data boxes without used data': { beforeData: [box('mdat', SECRET)], afterData: [box('mdat', SECRET)] },
    'unreferenced data': { blobs: [new Uint8Array(9), bytes(SECRET)] },
    'unreferenced data in a data box with an open size': { blobs: [bytes(SECRET)], dataSize: 'to-end' },
    'a 64-bit data box': { items: [{ id: 2, type: 'Exif', data: exif(false) }], dataSize: 'large' },
    'everything combined': {
      items: [
        { id: 2, type: 'Exif', data: exif(true), pieces: 4 },
        { id: 3, type: 'mime', contentType: XMP_TYPE, data: xmp('dc:creator') },
        thumbnail,
        { id: 4, type: 'jumb', data: bytes(SECRET), inIdat: true },
      ],
      references: [
        ['cdsc', 2, 1, 9],
        ['thmb', 9, 1],
        ['cdsc', 3, 1],
      ],
      groups: [fullBox('eqiv', 0, 0, u32(5, 2, 1, 9)), fullBox('eqiv', 0, 0, u32(6, 1, 2))],
      metaExtras: [box('what', SECRET)],
      beforeData: [uuid(XMP_UUID, SECRET)],
      afterData: [uuid(C2PA_UUID, SECRET)],
      blobs: [bytes(SECRET)],
    },
  }
  for (const [name, plan] of Object.entries(files)) {
    for (const dataFirst of plan.dataSize === 'to-end' ? [false] : [false, true]) {
      test(dataFirst ? `${name}, data first` : name, async () => {
        await assertScrubbed(still(picture, { ...plan, dataFirst }), still(picture))
      })
    }
  }

  test('removes descriptions and timestamps stored as properties', async () => {
    const properties = [
      { box: fullBox('udes', 0, 0, 'en\0', SECRET, '\0tags\0'), essential: true },
      { box: fullBox('crtt', 0, 0, u32(0, 77)) },
      { box: box('abcd', SECRET) },
      irot(1),
    ]
    const clean = assemble({ primary: 1, items: [image(1, picture, irot(1))] })
    const { file } = await assertScrubbed(
      assemble({ primary: 1, items: [image(1, picture, ...properties)] }),
      clean,
    )
    assert.equal(Buffer.from(file).includes('crtt'), false)
  })

  test('removes a thumbnail with its tiles and alpha', async () => {
    const other = await coded(noise(16, 12, 90))
    const alpha = await coded(noise(32, 12).greyscale())
    const plan: Plan = {
      items: [
        grid(5, [2, 1], [32, 12]),
        { ...image(6, small), hidden: true },
        { ...image(7, other), hidden: true },
        image(8, alpha, alphaKind()),
      ],
      references: [
        ['thmb', 5, 1],
        ['dimg', 5, 6, 7],
        ['auxl', 8, 5],
      ],
    }
    const { file } = await assertScrubbed(still(picture, plan))
    for (const removed of [small.data, other.data, alpha.data, bytes('thmb'), bytes('auxl'), bytes('grid')]) {
      assert.equal(Buffer.from(file).includes(Buffer.from(removed)), false)
    }
    assert.equal(Buffer.from(file).includes(Buffer.from(picture.data)), true)
  })

  test('keeps tiles, alpha and a gain map when removing Exif', async () => {
    const alpha = await coded(noise(128, 48).greyscale())
    const tmap = {
      id: 5,
      type: 'tmap',
      data: bytes(new Uint8Array(6), new Uint8Array(56).fill(7)),
      properties: [ispe(128, 48)],
    }
    const plan: Plan = {
      primary: 1,
      items: [
        { id: 9, type: 'Exif', data: exif(true) },
        grid(1, [2, 1], [128, 48], irot(1)),
        image(2, picture),
        image(3, { ...picture, data: bytes(picture.data) }),
        image(4, small),
        tmap,
        image(6, alpha, alphaKind()),
      ],
      references: [
        ['cdsc', 9, 1, 5],
        ['dimg', 1, 2, 3],
        ['dimg', 5, 1, 4],
        ['auxl', 6, 1],
      ],
      groups: [fullBox('altr', 0, 0, u32(7, 2, 5, 1))],
    }
    const { file, width, height, hasLocation } = await assertScrubbed(assemble(plan))
    assert.deepEqual([width, height, hasLocation], [48, 128, true])
    for (const kept of [small.data, tmap.data, alpha.data, bytes('tmap'), bytes('altr')]) {
      assert.equal(Buffer.from(file).includes(Buffer.from(kept)), true)
    }
    assert.equal((await decoded(file)).hasAlpha, true)
  })

  test('removing an Exif item that shares image data keeps the image data', async () => {
    const items = [{ id: 2, type: 'Exif', sharing: 1 }]
    const { file } = await assertScrubbed(still(picture, { items, references: [['cdsc', 2, 1]] }))
    assert.equal(Buffer.from(file).includes(Buffer.from(picture.data)), true)
  })

  for (const name of ['S', 'SECRET', 'SECRET\0', 'SECRET: ', `file:///home/${SECRET}\0`]) {
    test(`removes the name of another file of ${name.length} bytes, so that libheif still opens the result`, async () => {
      const url = fullBox('url ', 0, 1, name)
      await assertScrubbed(still(picture, { metaExtras: [box('dinf', fullBox('dref', 0, 0, u32(1), url))] }))
    })
  }

  test('removes metadata larger than a window', async () => {
    const data = bytes(u32(0), new Uint8Array(900_000).fill(0x53), SECRET)
    const { file } = await assertScrubbed(still(picture, { items: [{ id: 2, type: 'Exif', data }] }))
    assert.equal(file.filter((byte) => byte === 0x53).length < 200, true)
  })
})
