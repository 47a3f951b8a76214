/** When the best encoding is worth waiting for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Estimate, effortFor } from '../../../src/client/compress/effort.ts'
import { quickQuality, type Trial } from '../../../src/client/compress/jpeg-quality.ts'
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

test('chooses a quality for the expected score, and a lower one for large images', () => {
  const trial = (quality: number, loss: number, bytes: number): Trial => ({
    quality,
    loss: { structure: loss, contrast: loss / 10, meanError: 1 },
    bytes,
  })
  const qualityOf = (low: number, high: number, bytes = 200_000) =>
    quickQuality(trial(74, low, 0.6 * bytes), trial(88, high, bytes), 0).quality
  assert.ok(qualityOf(0.02, 0.01) < qualityOf(0.1, 0.05))
  assert.ok(qualityOf(0.06, 0.03, 2_000_000) < qualityOf(0.06, 0.03))
  assert.ok(qualityOf(0.06, 0.03, 2_000_000) > 70)
  // No loss at all, and as much as possible.
  assert.equal(qualityOf(0, 0), 70)
  assert.equal(qualityOf(1, 0.9), 86)
  assert.equal(qualityOf(0.5, 0.5, 0), 86)
})
