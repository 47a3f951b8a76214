/** A marker planted anywhere is removed, except in what viewers use: coded pixels, and numbers that SECURITY.md lists. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { apngOf, extendedWebp, webpOf } from '../support/chunks.ts'
import { extent } from '../support/extent.ts'
import { alphaKind, assemble, coded, grid, image, noise } from '../support/images/avif/assembly.ts'
import { moov, track } from '../support/images/avif/tracks-assembly.ts'
import { codeJpeg } from '../support/images/jpeg-coder.ts'
import { frames, picture } from '../support/images/pictures.ts'
import { jpegPlanter, MARKER, type Planter, pngPlanter, webpPlanter } from '../support/images/planting.ts'
import { avifPlanter } from '../support/images/planting-avif.ts'
import { scrub } from './subject.ts'

/** Distance between overwritten offsets. Unit: bytes. `PLANT_EVERY=1` tries every offset. */
const STEP = Number(process.env.PLANT_EVERY ?? extent(5, 29))

const tiny = { width: 16, height: 16 }
const av1 = await coded(noise(16, 16))
const alpha = await coded(noise(16, 16).greyscale())

/** Planters by format, which is the first word of a file's name. */
const PLANTERS: Record<string, Planter> = {
  JPEG: jpegPlanter,
  PNG: pngPlanter,
  APNG: pngPlanter,
  WebP: webpPlanter,
  AVIF: avifPlanter,
}

const files: Record<string, Uint8Array> = {
  'JPEG, baseline': await picture(tiny).jpeg().toBuffer(),
  'JPEG, progressive': await picture(tiny).jpeg({ progressive: true }).toBuffer(),
  'JPEG, grey': await picture({ ...tiny, channels: 1 })
    .jpeg()
    .toBuffer(),
  'JPEG, restarts': codeJpeg({ ...tiny, restartInterval: 1 }),
  'JPEG, with a profile': await picture(tiny).withIccProfile('p3').jpeg().toBuffer(),
  'PNG, colour': await picture(tiny).png().toBuffer(),
  'PNG, grey with alpha': await picture({ ...tiny, channels: 2 })
    .png()
    .toBuffer(),
  'PNG, palette': await picture(tiny).png({ palette: true, colours: 4 }).toBuffer(),
  'PNG, with a profile': await picture(tiny).withIccProfile('p3').png().toBuffer(),
  APNG: apngOf([
    await picture(tiny).png().toBuffer(),
    await picture({ ...tiny, seed: 2 })
      .png()
      .toBuffer(),
  ]),
  'WebP, lossy': await picture(tiny).webp().toBuffer(),
  'WebP, lossy with alpha': await picture({ ...tiny, channels: 4 })
    .webp()
    .toBuffer(),
  'WebP, lossless with a profile': await picture(tiny)
    .withIccProfile('p3')
    .webp({ lossless: true })
    .toBuffer(),
  'WebP, extended': webpOf(extendedWebp(await picture(tiny).webp().toBuffer(), tiny, 0)),
  'WebP, animated': await (await frames(2, tiny)).webp().toBuffer(),
  'AVIF, still': assemble({ primary: 1, dataFirst: true, items: [image(1, av1)] }),
  'AVIF, with alpha': assemble({
    primary: 1,
    dataFirst: true,
    items: [image(1, av1), image(2, alpha, alphaKind())],
    references: [['auxl', 2, 1]],
  }),
  'AVIF, grid': assemble({
    primary: 1,
    dataFirst: true,
    items: [grid(1, [2, 1], [32, 16]), image(2, av1), image(3, av1)],
    references: [['dimg', 1, 2, 3]],
  }),
  'AVIF, sequence': assemble({
    brands: ['avis', 'avif', 'mif1'],
    primary: 1,
    dataFirst: true,
    items: [image(1, av1)],
    blobs: [av1.data, av1.data],
    moov: (offsets) =>
      moov([track({ picture: av1, samples: offsets.map((at) => ({ at, length: av1.data.length })) })]),
  }),
}

for (const [name, file] of Object.entries(files)) {
  const planter = PLANTERS[name.split(',')[0]!]!
  describe(name, () => {
    test('an inserted marker is removed', async (t) => {
      const planted = planter.inserted(file)
      const survivors: string[] = []
      let accepted = 0
      for (const { where, bytes: hostile } of planted) {
        const outcome = await outcomeOf(hostile)
        if (outcome !== 'refused') accepted++
        if (outcome === 'survived') survivors.push(where)
      }
      t.diagnostic(`${planted.length} files, ${accepted} accepted`)
      assert.ok(accepted > 0 && planted.length > 5)
      assert.deepEqual(survivors, [])
    })

    test('an overwriting marker is removed', async () => {
      const excused = planter.coded(file)
      const survivors: string[] = []
      for (let at = 0; at + MARKER.length <= file.length; at += STEP) {
        const end = at + MARKER.length
        if (excused.some((coded) => end > coded.start && at < coded.end)) continue
        const changed = Buffer.from(file)
        MARKER.copy(changed, at)
        const hostile = planter.repaired(changed)
        if (hostile && (await outcomeOf(hostile)) === 'survived') {
          survivors.push(
            `${at}: ${Buffer.from(file.subarray(Math.max(0, at - 12), end + 4)).toString('latin1')}`,
          )
        }
      }
      assert.deepEqual(survivors, [])
    })
  })
}

async function outcomeOf(hostile: Uint8Array): Promise<'refused' | 'removed' | 'survived'> {
  try {
    return (await scrub(hostile)).file.includes(MARKER) ? 'survived' : 'removed'
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return 'refused'
  }
}
