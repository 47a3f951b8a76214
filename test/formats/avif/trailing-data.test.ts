/** Private data after the last image byte is cut off instead of zeroed, and all offsets stay valid. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  alphaKind,
  assemble,
  coded,
  image,
  noise,
  type Plan,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, fullBox } from '../../support/images/avif/boxes.ts'
import { XMP_TYPE } from '../../support/images/avif/private.ts'
import { moov, track } from '../../support/images/avif/tracks-assembly.ts'
import { scrub } from '../subject.ts'
import { assertScrubbed } from './subject.ts'

const picture = await coded(noise(64, 48))
const thumbnail = { ...image(9, await coded(noise(16, 12))), hidden: true }

describe('private data after the last image byte is cut off', () => {
  const large = new Uint8Array(20_000).fill(0x53)
  const clean = still(picture)
  const plans: Record<string, Plan> = {
    Exif: { items: [{ id: 2, type: 'Exif', data: large }], references: [['cdsc', 2, 1]] },
    'Exif with 32-bit IDs': { wideIds: true, items: [{ id: 70_000, type: 'Exif', data: large }] },
    'Exif in several extents, and XMP': {
      items: [
        { id: 2, type: 'Exif', data: large, pieces: 7 },
        { id: 3, type: 'mime', contentType: XMP_TYPE, data: large },
      ],
    },
    'Exif in a 64-bit data box': { items: [{ id: 2, type: 'Exif', data: large }], dataSize: 'large' },
    'Exif in a data box with an open size': {
      items: [{ id: 2, type: 'Exif', data: large }],
      dataSize: 'to-end',
    },
    'unreferenced data in a box of its own': { afterData: [box('mdat', large), box('free', large)] },
    'zeros and free boxes': { blobs: [new Uint8Array(9000)], afterData: [box('free', new Uint8Array(9000))] },
    'a free box and an empty one': { afterData: [box('free', large), box('skip')] },
  }
  const last: Record<string, Plan> = {
    ...plans,
    'boxes in meta': {
      metaExtras: [box('free', large), box('what', large), fullBox('xml ', 0, 0, large)],
    },
    'a thumbnail': { items: [thumbnail], references: [['thmb', 9, 1]] },
  }
  for (const [name, plan] of Object.entries(plans)) {
    test(name, async () => {
      const { file } = await assertScrubbed(still(picture, plan), clean)
      assert.ok(file.length < clean.length + 200, `${file.length} of ${clean.length}`)
    })
  }
  for (const [name, { dataSize, ...plan }] of Object.entries(last)) {
    if (dataSize === 'to-end') continue
    test(`${name}, data first`, async () => {
      const { file } = await assertScrubbed(still(picture, { ...plan, dataSize, dataFirst: true }), clean)
      assert.ok(file.length <= clean.length + 64, `${file.length} of ${clean.length}`)
    })
  }

  test('a movie', async () => {
    const movie = (extras: Uint8Array[], more: Uint8Array[] = []) =>
      assemble({
        brands: ['avis', 'avif', 'mif1'],
        primary: 1,
        dataFirst: true,
        items: [image(1, picture)],
        blobs: [picture.data, ...more],
        moov: (offsets) => {
          const samples = [{ at: offsets[0]!, length: picture.data.length }]
          return moov([track({ picture, samples, extras })], extras)
        },
      })
    const plain = movie([])
    const { file } = await assertScrubbed(
      movie([box('udta', large), box('free', new Uint8Array(90))], [large]),
      plain,
    )
    assert.equal(file.length, (await scrub(plain)).file.length)
  })

  test('data before the last image byte is zeroed, so that no offset changes', async () => {
    const alpha = await coded(noise(64, 48).greyscale())
    const items = [{ id: 2, type: 'Exif', data: large }, image(3, alpha, alphaKind())]
    const { file } = await assertScrubbed(still(picture, { items, references: [['auxl', 3, 1]] }))
    assert.ok(file.length > 20_000)
  })
})
