/** When the best encoding is worth the wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickQuality } from '../../../src/client/compress/jpeg-quality.ts'
import { type Estimate, effortFor } from '../../../src/client/compress/quick-jpeg.ts'
import type { TextureLoss } from '../../../src/client/compress/texture-loss.ts'
import type { Line } from '../../../src/client/types.ts'

const MEGABIT = 125_000
/** 12 MP on a core of today. */
const PHOTOGRAPH: Estimate = {
  bestMs: 1500,
  bestBytes: 1_200_000,
  quickBytes: 1_320_000,
  elapsedMs: 200,
}

const effort = (estimate: Partial<Estimate>, line: Partial<Line>) =>
  effortFor({ ...PHOTOGRAPH, ...estimate }, { bytesPerSecond: 10 * MEGABIT, isBusy: false, ...line })

test('the best is taken where its link comes within two seconds', () => {
  assert.equal(effort({ bestMs: 800 }, { bytesPerSecond: 50 * MEGABIT }), 'best')
  assert.equal(effort({ bestMs: 800, elapsedMs: 400 }, { bytesPerSecond: 50 * MEGABIT }), 'quick')
  assert.equal(effort({}, { bytesPerSecond: 50 * MEGABIT }), 'quick')
  assert.equal(effort({}, {}), 'quick')
  assert.equal(effort({ bestMs: 100 }, {}), 'best')
})

test('on a slow line fewer bytes are the sooner link', () => {
  assert.equal(effort({}, { bytesPerSecond: MEGABIT / 2 }), 'best')
  assert.equal(effort({}, { bytesPerSecond: MEGABIT / 20 }), 'best')
  assert.equal(effort({ bestMs: 8000 }, { bytesPerSecond: MEGABIT }), 'quick')
})

test('with others waiting, the best is taken as long as it keeps up with the line', () => {
  assert.equal(effort({}, { isBusy: true }), 'quick')
  assert.equal(effort({ bestMs: 900 }, { isBusy: true }), 'best')
  assert.equal(effort({}, { isBusy: true, bytesPerSecond: MEGABIT }), 'best')
})

test('a browser is asked for more where texture would suffer, and for less of what is large', () => {
  /** The loss of a picture with such a score. */
  const lossOf = (score: number): TextureLoss => ({
    structure: Math.exp((75.4 - score) / 2.66),
    contrast: 0,
    meanError: 0,
  })
  assert.equal(quickQuality(lossOf(84), 300_000), 0.8)
  assert.ok(quickQuality(lossOf(76), 300_000) > 0.8)
  assert.equal(quickQuality(lossOf(50), 300_000), 0.86)
  assert.ok(quickQuality(lossOf(84), 1_000_000) < 0.8)
  assert.equal(quickQuality(lossOf(95), 9_000_000), 0.66)
  assert.ok(quickQuality(lossOf(76), 9_000_000) > 0.8)
})
