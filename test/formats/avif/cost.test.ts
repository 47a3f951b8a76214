/** The cost of an AVIF file grows with its size, not with the number of references to the same part. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  assemble,
  coded,
  configured,
  grid,
  image,
  noise,
  type Part,
  still,
} from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u32, u32s } from '../../support/images/avif/boxes.ts'
import { crowded, film, moov } from '../../support/images/avif/tracks-assembly.ts'
import { gridsOfTiles } from '../../support/images/hostile-avif.ts'
import { assertOutcome, inspect } from './subject.ts'

const picture = await coded(noise(64, 48))

/** Images that share the data and properties of `model`, one per entry of `extentCounts`. */
function copies(model: Part, extentCounts: number[]): Part[] {
  return extentCounts.map((pieces, index) => {
    const { data: _, ...rest } = model
    return { ...rest, id: model.id + 1 + index, sharing: model.id, pieces }
  })
}

describe('parts with many references', () => {
  const units = (count: number) =>
    still(configured(picture, picture.av1C.subarray(12), Buffer.alloc(2 * count, '7a00', 'hex')))
  test('limits the number of units in av1C', async () => {
    await assertOutcome(units(8), 'accepted')
    await assertOutcome(units(17), 'damaged-image')
    await assertOutcome(units(100_000), 'damaged-image')
  })

  test('reads no more of an auxiliary type than the longest known type has', async (t) => {
    const kind = { box: fullBox('auxC', 0, 0, new Uint8Array(20_000).fill(65), [0]) }
    const file = still(picture, {
      items: [image(2, picture, kind)],
      references: Array.from({ length: 100 }, () => ['auxl', 2, 1]),
    })
    const { mock } = t.mock.method(String, 'fromCharCode')
    await inspect(file)
    const read = mock.calls.reduce((sum, call) => sum + call.arguments.length, 0)
    assert.ok(read > 0 && read < 5000, `${read} characters`)
  })

  test('checks a tile that fills a whole grid only once', async (t) => {
    const file = assemble({
      primary: 1,
      items: [grid(1, [64, 64], [64 * 64, 64 * 48]), { ...image(2, picture), hidden: true }],
      references: [['dimg', 1, ...new Array(64 * 64).fill(2)]],
    })
    const { mock } = t.mock.method(DataView.prototype, 'getUint32')
    await inspect(file)
    const read = mock.callCount()
    assert.ok(read > 0 && read < 1000, `${read} numbers`)
  })

  test('checks a tile of many grids only once', async (t) => {
    const file = gridsOfTiles(100, 16, 0, picture)
    const { mock } = t.mock.method(DataView.prototype, 'getUint32')
    await inspect(file)
    const read = mock.callCount()
    assert.ok(read > 0 && read < 3000, `${read} numbers`)
  })

  test('walks shared data once, and limits the walks if the extents differ', async () => {
    const padding = bytes([0x78], new Uint8Array(50_000), [0x80])
    const model = { ...image(1, picture), data: bytes(picture.data, padding) }
    const sharing = (extentCounts: number[]) =>
      assemble({ primary: 1, items: [model, ...copies(model, extentCounts)] })
    await assertOutcome(sharing(new Array(20).fill(1)), 'accepted')
    await assertOutcome(sharing(Array.from({ length: 20 }, (_, i) => i + 2)), 'damaged-image')
  })

  test('limits nonexistent items in property lists and groups', async () => {
    const entries = (from: number) => Array.from({ length: 8000 }, (_, i) => bytes(u32(from + i), [0]))
    const lists = Array.from({ length: 20 }, (_, i) =>
      fullBox('ipma', 1, 0, u32(8000), ...entries(100 + 8000 * i)),
    )
    const file = assemble({ primary: 1, items: [image(1, picture)], dataFirst: true })
    // `iprp` is the last box in `meta`, which is the last box in the file.
    const longer = Buffer.from(bytes(file, ...lists))
    for (const type of ['meta', 'iprp']) {
      const at = longer.indexOf(type) - 4
      longer.writeUInt32BE(longer.length - at, at)
    }
    await assertOutcome(longer, 'damaged-image')
    const groups = [fullBox('altr', 0, 0, u32(7, 200_000), u32s(new Array(200_000).fill(9)))]
    await assertOutcome(still(picture, { groups }), 'damaged-image')
  })
})

describe('files that need a hundred thousand edits are refused', () => {
  test('in the frames of a sequence', async () => {
    const samples = 130_000
    const frame = bytes([0x2a, 1, 0x41, 0x32, 1, 0])
    const headed = configured(picture, picture.data.subarray(2, 4 + picture.data[3]!))
    const file = assemble({
      brands: ['avis', 'avif'],
      blobs: [new Uint8Array(Buffer.alloc(6 * samples, frame))],
      moov: ([at = 0]) => moov([crowded(headed, at, samples, 6)]),
    })
    await assertOutcome(file, 'damaged-image')
  })

  test('in the references of a track', async () => {
    const unknownIds = u32s([1, ...new Array(200_000).fill(77)])
    const file = film(picture, { extras: [box('tref', box('auxl', unknownIds))] })
    await assertOutcome(file, 'damaged-image')
  })
})
