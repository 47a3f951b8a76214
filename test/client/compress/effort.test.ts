/** When the best encoding is worth waiting for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickQuality } from '../../../src/client/compress/jpeg-quality.ts'
import { type Estimate, effortFor } from '../../../src/client/compress/quick-jpeg.ts'
import type { TextureLoss } from '../../../src/client/compress/texture-loss.ts'
import type { Line } from '../../../src/client/types.ts'

const MEGABIT = 125_000
/** 12 megapixels on a current core. */
const PHOTOGRAPH: Estimate = {
  bestMs: 1500,
  bestBytes: 1_200_000,
  quickBytes: 1_320_000,
  elapsedMs: 200,
}

const effort = (estimate: Partial<Estimate>, line: Partial<Line>) =>
  effortFor({ ...PHOTOGRAPH, ...estimate }, { bytesPerSecond: 10 * MEGABIT, isBusy: false, ...line })

test('chooses the best encoding if its link comes within two seconds', () => {
  assert.equal(effort({ bestMs: 800 }, { bytesPerSecond: 50 * MEGABIT }), 'best')
  assert.equal(effort({ bestMs: 800, elapsedMs: 400 }, { bytesPerSecond: 50 * MEGABIT }), 'quick')
  assert.equal(effort({}, { bytesPerSecond: 50 * MEGABIT }), 'quick')
  assert.equal(effort({}, {}), 'quick')
  assert.equal(effort({ bestMs: 100 }, {}), 'best')
})

test('chooses the best encoding on a slow connection, where its smaller size is faster', () => {
  assert.equal(effort({}, { bytesPerSecond: MEGABIT / 2 }), 'best')
  assert.equal(effort({}, { bytesPerSecond: MEGABIT / 20 }), 'best')
  assert.equal(effort({ bestMs: 8000 }, { bytesPerSecond: MEGABIT }), 'quick')
})

test('with other images queued, chooses the best encoding if it keeps up with the connection', () => {
  assert.equal(effort({}, { isBusy: true }), 'quick')
  assert.equal(effort({ bestMs: 900 }, { isBusy: true }), 'best')
  assert.equal(effort({}, { isBusy: true, bytesPerSecond: MEGABIT }), 'best')
})

test('raises the browser quality for textured images, and lowers it for large ones', () => {
  /** The loss that corresponds to a score. */
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
