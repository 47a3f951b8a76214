import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Pixels } from '../../../src/client/compress/pixels.ts'
import { textureLossOf } from '../../../src/client/compress/texture-loss.ts'
import { noise, photo, rgba } from '../pictures.ts'

test('a picture beside itself lost nothing', async () => {
  const picture = await rgba(await photo(64, 48, 30).png().toBuffer())
  assert.ok(Math.abs(textureLossOf(picture, picture)) < 1e-6)
})

test('the more a JPEG takes, the more is lost', async () => {
  const original = await photo(160, 120, 30).png().toBuffer()
  const before = await rgba(original)
  const losses: number[] = []
  for (const quality of [95, 80, 60, 30, 5]) {
    losses.push(textureLossOf(before, await rgba(await photo(160, 120, 30).jpeg({ quality }).toBuffer())))
  }
  assert.deepEqual(
    losses,
    losses.toSorted((a, b) => a - b),
  )
  assert.ok(losses[0]! < 0.05 && losses.at(-1)! > 0.2, `${losses}`)
})

test('whatever the pixels, it is a number from 0 to 1, or a little more where structure is turned round', () => {
  const sides = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(sides, sides, fc.nat(), fc.nat(), (width, height, a, b) => {
      const of = (seed: number): Pixels => ({ data: noise(4 * width * height, seed), width, height })
      const loss = textureLossOf(of(a), of(b))
      return loss >= 0 && loss <= 2
    }),
    { numRuns: 50 },
  )
})
