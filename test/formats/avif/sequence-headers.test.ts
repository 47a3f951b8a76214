/** Sequence headers, by which decoders allocate memory, must all have the same size. */
import { describe, test } from 'node:test'
import { type Coded, coded, configured, noise, still } from '../../support/images/avif/assembly.ts'
import { bytes } from '../../support/images/avif/boxes.ts'
import { film } from '../../support/images/avif/tracks-assembly.ts'
import { assertOutcome } from './subject.ts'

const picture = await coded(noise(64, 48))

describe('sequence headers', async () => {
  const large = await coded(noise(128, 96))
  /** The sequence header: the unit after the temporal delimiter. */
  const headerOf = ({ data }: Coded) => data.subarray(2, 4 + data[3]!)
  const withoutHeader = ({ data, ...made }: Coded): Coded => ({
    ...made,
    data: bytes(data.subarray(0, 2), data.subarray(4 + data[3]!)),
  })

  test('may be repeated', () =>
    assertOutcome(
      still({
        ...picture,
        data: bytes(picture.data.subarray(0, 2), headerOf(picture), picture.data.subarray(2)),
      }),
      'accepted',
    ))
  test('must not have two sizes in the data', () =>
    assertOutcome(still({ ...picture, data: bytes(picture.data, headerOf(large)) }), 'damaged-image'))
  test('may be in av1C with the same size', () =>
    assertOutcome(still(configured(picture, headerOf(picture))), 'accepted'))
  test('must not be in av1C with another size', () =>
    assertOutcome(still(configured(picture, headerOf(large))), 'damaged-image'))
  test('may be only in av1C', async () => {
    await assertOutcome(still(withoutHeader(configured(picture, headerOf(picture)))), 'accepted')
    await assertOutcome(still(withoutHeader(configured(picture, headerOf(large)))), 'damaged-image')
    await assertOutcome(still(withoutHeader(configured(picture, bytes([0x7a, 1, 0x80])))), 'damaged-image')
  })
  test('must not be in av1C of a track with another size', () =>
    assertOutcome(film(configured(picture, headerOf(large))), 'damaged-image'))
})
