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

  const [own, other] = [headerOf(picture), headerOf(large)]
  const withData = (...parts: Uint8Array[]) => still({ ...picture, data: bytes(...parts) })
  const files: Record<string, [file: Uint8Array, outcome: string]> = {
    'may be repeated': [withData(picture.data.subarray(0, 2), own, picture.data.subarray(2)), 'accepted'],
    'must not have two sizes in the data': [withData(picture.data, other), 'damaged-image'],
    'may be in av1C with the same size': [still(configured(picture, own)), 'accepted'],
    'must not be in av1C with another size': [still(configured(picture, other)), 'damaged-image'],
    'may be only in av1C': [still(withoutHeader(configured(picture, own))), 'accepted'],
    'must not be only in av1C with another size': [
      still(withoutHeader(configured(picture, other))),
      'damaged-image',
    ],
    'must not be absent': [
      still(withoutHeader(configured(picture, bytes([0x7a, 1, 0x80])))),
      'damaged-image',
    ],
    'must not be in av1C of a track with another size': [film(configured(picture, other)), 'damaged-image'],
  }
  for (const [name, [file, outcome]] of Object.entries(files)) test(name, () => assertOutcome(file, outcome))
})
