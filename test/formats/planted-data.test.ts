/** A marker inside the coded image data is removed, as far as that is possible without decoding. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { extendedWebp, webpOf } from '../support/chunks.ts'
import { alphaKind, coded, configured, image, noise, still } from '../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u16 } from '../support/images/avif/boxes.ts'
import { film } from '../support/images/avif/tracks-assembly.ts'
import { codeJpeg, EOI } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { MARKER } from '../support/images/planting.ts'
import { decoded } from './avif/subject.ts'
import { scrub } from './subject.ts'

const tiny = { width: 16, height: 16 }

const av1 = await coded(noise(16, 16))

const alpha = await coded(noise(16, 16).greyscale())

describe('a marker is removed from', async () => {
  const unit = (type: number) => bytes([(type << 3) | 2, MARKER.length], MARKER)
  const withData = (...more: Uint8Array[]) => still({ ...av1, data: bytes(av1.data, ...more) })
  const webp = await picture(tiny).webp({ lossless: true }).toBuffer()
  const header = av1.data.subarray(4, 4 + av1.data[3]!)
  const restarts = codeJpeg({ ...tiny, restartInterval: 1 })
  const config = (more: Uint8Array) => still(configured(av1, av1.av1C.subarray(12), more))
  const alphaKindOf = (type: string) => ({ box: fullBox('auxC', 0, 0, type, [0]), essential: true })
  const luminance = (numbers: Uint8Array) => ({ box: box('mdcv', numbers) })
  const filmWith = (setting: Uint8Array) => film({ ...av1, av1C: bytes(av1.av1C, setting) })
  const planted: Record<string, Uint8Array> = {
    'AV1 metadata': withData(unit(5)),
    'AV1 padding': withData(bytes([0x7a, MARKER.length + 1], MARKER, [0x80])),
    'AV1 redundant frame header': withData(unit(7)),
    'AV1 tile list': withData(unit(8)),
    'AV1 reserved unit': withData(unit(11)),
    'AV1 temporal delimiter': still({
      ...av1,
      data: bytes([0x12, MARKER.length], MARKER, av1.data.subarray(2)),
    }),
    'AV1 sequence header': still({
      ...av1,
      data: bytes(
        [0x12, 0, 0x0a, header.length + MARKER.length],
        header,
        MARKER,
        av1.data.subarray(4 + header.length),
      ),
    }),
    'a sequence header in av1C': config(bytes([0x0a, header.length + MARKER.length], header, MARKER)),
    'AV1 metadata without a size': withData(bytes([0x28], MARKER)),
    'units in av1C': config(unit(5)),
    'an av1C without valid units': config(bytes([0xff], MARKER)),
    'a brand': still(av1, { brands: ['avif', 'S3CR', 'ET!!', 'mif1'] }),
    'an auxiliary image of an unknown type': still(av1, {
      items: [image(2, alpha, alphaKindOf(MARKER.toString()))],
      references: [['auxl', 2, 1]],
    }),
    'the auxiliary type of the primary image': still(
      { ...av1, data: av1.data },
      { primary: 2, items: [image(2, av1, alphaKindOf(MARKER.toString()))] },
    ),
    'a second type of an auxiliary image': still(av1, {
      items: [image(2, alpha, alphaKind(), alphaKindOf(MARKER.toString()))],
      references: [['auxl', 2, 1]],
    }),
    'an auxiliary type in a sample entry': filmWith(fullBox('auxi', 0, 0, MARKER, [0])),
    'an invalid profile in a sample entry': filmWith(box('colr', 'prof', MARKER)),
    'the extent index, which only locations in other items use': indexed(still(av1, { dataFirst: true })),
    'a second property of a kind': still(av1, {
      items: [image(2, av1, luminance(new Uint8Array(24)), luminance(bytes(new Uint8Array(16), MARKER)))],
    }),
    'a property that no image has': still(av1, {
      items: [{ id: 2, type: 'Exif', properties: [{ box: box('colr', 'nclx', MARKER) }] }],
    }),
    'an excess restart': Buffer.concat([restarts.subarray(0, -2), Buffer.from([0xff, 0xd3]), MARKER, EOI]),
    'a restart in a scan without restarts': Buffer.concat([
      (await picture(tiny).jpeg().toBuffer()).subarray(0, -2),
      Buffer.from([0xff, 0xd0]),
      MARKER,
      EOI,
    ]),
    'a frame in a still WebP': webpOf([
      ...extendedWebp(webp, tiny, 0).toSpliced(
        1,
        0,
        { type: 'ANIM', body: Buffer.alloc(6) },
        { type: 'ANMF', body: Buffer.concat([Buffer.alloc(16), webp.subarray(12), MARKER]) },
      ),
    ]),
  }
  for (const [name, file] of Object.entries(planted)) {
    test(name, async () => {
      assert.ok(Buffer.from(file).includes(MARKER), 'it is planted')
      const { file: stored } = await scrub(file)
      assert.equal(stored.includes(MARKER), false)
      assert.equal((await scrub(stored)).unchanged, true, 'scrubbing it again changes nothing')
      // Decoders reject any unit without a size.
      if (name.startsWith('AV1') && !name.includes('without')) {
        assert.deepEqual((await decoded(stored)).data, (await decoded(still(av1))).data)
      }
    })
  }
})

test('a marker spread over the data references of items is removed', async () => {
  const clean = still(av1, { items: [2, 3, 4].map((id) => image(id, av1)) })
  const planted = Buffer.from(clean)
  // After the version, the field widths and the number of items. Each item has 16 bytes, with the reference after 4.
  const first = planted.indexOf('iloc') + 4 + 8 + 4
  for (let item = 0; item < 4; item++) MARKER.copy(planted, first + 16 * item, 2 * item, 2 * item + 2)
  assert.deepEqual((await scrub(planted)).file, (await scrub(clean)).file)
})

/** Adds the marker as extent index to the only extent in `iloc`. The data must precede `iloc`. */
function indexed(file: Uint8Array): Uint8Array {
  const made = Buffer.from(file)
  const [meta, iloc] = [made.indexOf('meta') - 4, made.indexOf('iloc') - 4]
  const end = iloc + made.readUInt32BE(iloc)
  made.writeUInt32BE(made.readUInt32BE(meta) + MARKER.length, meta)
  // After the item ID, the method, the data reference and the extent count.
  const extent = iloc + 16 + 8
  const whole = fullBox(
    'iloc',
    1,
    0,
    [0x44, MARKER.length],
    u16(1),
    made.subarray(iloc + 16, extent),
    MARKER,
    made.subarray(extent, end),
  )
  return bytes(made.subarray(0, iloc), whole, made.subarray(end))
}
