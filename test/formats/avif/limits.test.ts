import { describe, test } from 'node:test'
import { MAX_SIDE_PIXELS } from '../../../src/protocol.ts'
import { assemble, type Coded, coded, noise, still } from '../../support/images/avif/assembly.ts'
import { box, bytes } from '../../support/images/avif/boxes.ts'
import { moov, track } from '../../support/images/avif/tracks-assembly.ts'
import { assertOutcome } from './subject.ts'

const picture = await coded(noise(64, 48))

describe('limits', () => {
  /** AV1 data with the given size in its sequence header (AV1 5.5), and a frame of a few bytes. */
  const sized = (width: number, height: number): Coded => {
    const number = (value: number, bits: number) => value.toString(2).padStart(bits, '0')
    const bits = [
      '000',
      '1',
      '1',
      '01000',
      number(15, 4),
      number(15, 4),
      number(width - 1, 16),
      number(height - 1, 16),
    ]
    const text = bits.join('').padEnd(96, '0')
    const header = Array.from({ length: 12 }, (_, i) => Number.parseInt(text.slice(i * 8, i * 8 + 8), 2))
    return {
      ...picture,
      width,
      height,
      data: bytes([0x12, 0, 0x0a, 12], header, [0x32, 4, 0x10, 0, 0x80, 0]),
    }
  }

  test('accepts the maximum side and the maximum frame', async () => {
    await assertOutcome(still(sized(MAX_SIDE_PIXELS, 4096)), 'accepted')
    await assertOutcome(still(sized(16_384, 16_384)), 'accepted')
  })

  test('refuses one pixel more', async () => {
    await assertOutcome(still(sized(MAX_SIDE_PIXELS + 1, 1)), 'damaged-image')
    await assertOutcome(still(sized(16_384, 16_385)), 'damaged-image')
  })

  test('refuses an image without pixels', async () => {
    await assertOutcome(still({ ...picture, width: 0 }), 'damaged-image')
  })

  test('refuses a large frame behind a small declared size', async () => {
    const bomb = sized(65_536, 65_536)
    await assertOutcome(still({ ...bomb, width: 10, height: 10 }), 'damaged-image')
  })

  test('refuses too many items or boxes, and too large metadata', async () => {
    const many = Array.from({ length: 8193 }, (_, index) => ({ id: index + 2, type: 'Exif' }))
    await assertOutcome(still(picture, { items: many }), 'damaged-image')
    const boxes = bytes(...Array.from({ length: 16_385 }, () => box('free')))
    await assertOutcome(still(picture, { afterData: [boxes] }), 'damaged-image')
    await assertOutcome(still(picture, { metaExtras: [boxes] }), 'damaged-image')
    const long = box('grpl', new Uint8Array(5 * 1024 * 1024))
    await assertOutcome(still(picture, { metaExtras: [long] }), 'damaged-image')
  })

  test('refuses an animation with too many pixels in total', async () => {
    const large = sized(16_384, 16_384)
    const frames = (count: number, width: number) =>
      assemble({
        brands: ['avis', 'avif'],
        blobs: [large.data],
        moov: ([at = 0]) => {
          // All samples share the data of one frame.
          const samples = new Array(count).fill({ at, length: large.data.length })
          return moov([track({ picture: { ...large, width }, samples })])
        },
      })
    await assertOutcome(frames(64, 16_384), 'accepted')
    await assertOutcome(frames(65, 16_384), 'damaged-image')
    await assertOutcome(frames(65, 1), 'damaged-image')
  })
})
