import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Pixels } from '../../../src/client/compress/pixels.ts'
import { type TextureLoss, textureLossOf } from '../../../src/client/compress/texture-loss.ts'
import { extent } from '../../support/extent.ts'
import { noise, photo, rgba } from '../pictures.ts'

test('there is no loss between an image and itself', async () => {
  const picture = await rgba(await photo(64, 48, 30).png().toBuffer())
  const { structure, contrast, meanError } = textureLossOf(picture, picture)
  assert.ok(Math.abs(structure) < 1e-6 && contrast === 0 && meanError === 0)
})

test('loss grows as JPEG quality falls', async () => {
  const original = await photo(160, 120, 30).png().toBuffer()
  const before = await rgba(original)
  const losses: TextureLoss[] = []
  for (const quality of [95, 80, 60, 30, 5]) {
    losses.push(textureLossOf(before, await rgba(await photo(160, 120, 30).jpeg({ quality }).toBuffer())))
  }
  for (const kind of ['structure', 'contrast', 'meanError'] as const) {
    const figures = losses.map((loss) => loss[kind])
    assert.deepEqual(
      figures,
      figures.toSorted((a, b) => a - b),
      kind,
    )
  }
  assert.ok(losses[0]!.structure < 0.05 && losses.at(-1)!.structure > 0.2)
})

test('loss is within its bounds for any pixels; structure may exceed 1 if it is inverted', () => {
  const sides = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(sides, sides, fc.nat(), fc.nat(), (width, height, a, b) => {
      const of = (seed: number): Pixels => ({ data: noise(4 * width * height, seed), width, height })
      const { structure, contrast, meanError } = textureLossOf(of(a), of(b))
      return (
        structure >= 0 &&
        structure <= 2 &&
        contrast >= 0 &&
        contrast <= 1 &&
        meanError >= 0 &&
        meanError <= 255
      )
    }),
    { numRuns: extent(50, 15) },
  )
})
