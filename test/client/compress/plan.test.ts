import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Capabilities,
  type Facts,
  isSurelyPhoto,
  type JpegFacts,
  looksLikePhoto,
  MAX_PIXELS,
  type Plan,
  type PngFacts,
  type ProfileKind,
  planFor,
  pngMayBeatWebp,
  repackingLevel,
  shouldTrySample,
  worthRecompressing,
  worthWebp,
} from '../../../src/client/compress/plan.ts'
import type { Mode } from '../../../src/client/types.ts'
import { IMAGE_TYPES } from '../../../src/protocol.ts'

const CAPABILITIES: Capabilities = { webAssembly: true, maxPixels: MAX_PIXELS }
const SIZE = { width: 4000, height: 3000, animated: false }
const SCRUB: Plan = { kind: 'scrub' }
const KEEP: Plan = { kind: 'keep' }

const jpeg = (facts: Partial<JpegFacts> = {}): Facts => ({
  type: 'image/jpeg',
  ...SIZE,
  jpeg: {
    isStandardCoding: true,
    precision: 8,
    components: 3,
    fullChroma: false,
    halfChroma: true,
    lumaTableSum: 400,
    isOwnOutput: false,
    gainMap: 'none',
    orientation: 1,
    profile: 'none',
    ...facts,
  },
})
const png = (facts: Partial<PngFacts> = {}, size = SIZE): Facts => ({
  type: 'image/png',
  ...size,
  png: { bitDepth: 8, specialColour: false, orientation: 1, profile: 'none', ...facts },
})
const recompressed = {
  kind: 'jpeg',
  fullChroma: false,
  restoreChroma: true,
  gray: false,
  keepProfile: false,
  keepGainMap: false,
} as const
const repacked = { kind: 'png', mayBeWebp: true, mayBeJpeg: true, keepProfile: false } as const
const optimised = { ...repacked, mayBeWebp: false, mayBeJpeg: false }

const TABLE: [name: string, facts: Facts, mode: Mode, plan: Plan][] = [
  ['GIF', { type: 'image/gif', ...SIZE }, 'auto', KEEP],
  ['animated GIF', { type: 'image/gif', ...SIZE, animated: true }, 'lossless', KEEP],
  ['camera JPEG', jpeg(), 'auto', recompressed],
  ['camera JPEG, keep format', jpeg(), 'keep-format', recompressed],
  ['camera JPEG, lossless', jpeg(), 'lossless', SCRUB],
  ['camera JPEG, original', jpeg(), 'original', KEEP],
  ['JPEG just below the efficiency threshold', jpeg({ lumaTableSum: 1399 }), 'auto', recompressed],
  ['efficient JPEG', jpeg({ lumaTableSum: 1400 }), 'auto', SCRUB],
  [
    'JPEG written by this engine from a PNG photo',
    jpeg({ fullChroma: true, isOwnOutput: true }),
    'auto',
    SCRUB,
  ],
  [
    '4:4:4 JPEG',
    jpeg({ fullChroma: true, halfChroma: false }),
    'auto',
    { ...recompressed, fullChroma: true, restoreChroma: false },
  ],
  ['4:2:2 JPEG', jpeg({ halfChroma: false }), 'auto', { ...recompressed, restoreChroma: false }],
  [
    'grey JPEG',
    jpeg({ components: 1, fullChroma: true }),
    'auto',
    { ...recompressed, gray: true, fullChroma: true, restoreChroma: false },
  ],
  ['CMYK JPEG', jpeg({ components: 4 }), 'auto', SCRUB],
  ['two-component JPEG', jpeg({ components: 2 }), 'auto', SCRUB],
  ['12-bit JPEG', jpeg({ precision: 12 }), 'auto', SCRUB],
  ['arithmetic or lossless JPEG', jpeg({ isStandardCoding: false }), 'auto', SCRUB],
  ['JPEG with a gain map', jpeg({ gainMap: 'preservable' }), 'auto', { ...recompressed, keepGainMap: true }],
  [
    'JPEG with a gain map and an sRGB profile',
    jpeg({ gainMap: 'preservable', profile: 'srgb' }),
    'auto',
    { ...recompressed, keepGainMap: true, keepProfile: true },
  ],
  ['JPEG with a second image', jpeg({ gainMap: 'unsupported' }), 'auto', SCRUB],
  ['JPEG with an sRGB profile', jpeg({ profile: 'srgb' }), 'auto', recompressed],
  ['JPEG with a P3 profile', jpeg({ profile: 'rgb' }), 'auto', { ...recompressed, keepProfile: true }],
  ['JPEG with a profile of another space', jpeg({ profile: 'gray' }), 'auto', SCRUB],
  ['JPEG with a broken profile', jpeg({ profile: 'unusable' }), 'auto', SCRUB],
  [
    'grey JPEG with a grey profile',
    jpeg({ components: 1, fullChroma: true, profile: 'gray' }),
    'auto',
    { ...recompressed, gray: true, fullChroma: true, restoreChroma: false, keepProfile: true },
  ],
  ['grey JPEG with a colour profile', jpeg({ components: 1, profile: 'rgb' }), 'auto', SCRUB],
  ['PNG', png(), 'auto', repacked],
  ['PNG, keep format', png(), 'keep-format', optimised],
  ['PNG, lossless', png(), 'lossless', { ...repacked, mayBeJpeg: false }],
  ['PNG, original', png(), 'original', KEEP],
  ['PNG of 1 bit', png({ bitDepth: 1 }), 'auto', repacked],
  ['PNG of 16 bits', png({ bitDepth: 16 }), 'auto', optimised],
  ['PNG with cICP', png({ specialColour: true }), 'auto', optimised],
  ['PNG with a P3 profile', png({ profile: 'rgb' }), 'auto', { ...repacked, keepProfile: true }],
  ['PNG with a grey profile', png({ profile: 'gray' }), 'auto', optimised],
  ['PNG of the maximum WebP width', png({}, { ...SIZE, width: 16_383 }), 'auto', repacked],
  ['PNG wider than WebP allows', png({}, { ...SIZE, width: 16_384 }), 'auto', optimised],
  ['APNG', { type: 'image/png', ...SIZE, animated: true }, 'auto', SCRUB],
  ['animated WebP', { type: 'image/webp', ...SIZE, animated: true }, 'auto', SCRUB],
  ['still WebP', { type: 'image/webp', ...SIZE }, 'auto', SCRUB],
  ['AVIF', { type: 'image/avif', ...SIZE }, 'auto', SCRUB],
  ['AVIF sequence', { type: 'image/avif', ...SIZE, animated: true }, 'lossless', SCRUB],
]

for (const [name, facts, mode, plan] of TABLE) {
  test(`${name} (${mode}): ${plan.kind}`, () => assert.deepEqual(planFor(facts, mode, CAPABILITIES), plan))
}

test('scrubs an image with too many pixels for the device, with a fallback', () => {
  const small = { ...CAPABILITIES, maxPixels: 24_000_000 }
  const of = (width: number) => ({ ...jpeg(), width, height: 6000 })
  assert.deepEqual(planFor(of(4000), 'auto', small), recompressed)
  assert.deepEqual(planFor(of(4001), 'auto', small), { kind: 'scrub', fallback: 'too-many-pixels' })
  assert.deepEqual(planFor(of(16_666), 'auto', CAPABILITIES), recompressed)
  assert.deepEqual(planFor(of(16_667), 'auto', CAPABILITIES), { kind: 'scrub', fallback: 'too-many-pixels' })
})

test('scrubs everything without WebAssembly, with a fallback where recompression was planned', () => {
  const noWebAssembly = { ...CAPABILITIES, webAssembly: false }
  assert.deepEqual(planFor(jpeg(), 'auto', noWebAssembly), { kind: 'scrub', fallback: 'no-webassembly' })
  assert.deepEqual(planFor(jpeg({ gainMap: 'unsupported' }), 'auto', noWebAssembly), SCRUB)
  assert.deepEqual(planFor({ type: 'image/gif', ...SIZE }, 'auto', noWebAssembly), KEEP)
})

const profiles = fc.constantFrom<ProfileKind>('none', 'srgb', 'rgb', 'gray', 'unusable')
const anyFacts: fc.Arbitrary<Facts> = fc
  .record({
    type: fc.constantFrom(...IMAGE_TYPES),
    width: fc.integer({ min: 1, max: 65_535 }),
    height: fc.integer({ min: 1, max: 65_535 }),
    animated: fc.boolean(),
    jpeg: fc.record({
      isStandardCoding: fc.boolean(),
      precision: fc.constantFrom(8, 12),
      components: fc.integer({ min: 1, max: 4 }),
      fullChroma: fc.boolean(),
      halfChroma: fc.boolean(),
      lumaTableSum: fc.integer({ min: 64, max: 4000 }),
      isOwnOutput: fc.boolean(),
      gainMap: fc.constantFrom('none', 'preservable', 'unsupported'),
      orientation: fc.integer({ min: 1, max: 8 }),
      profile: profiles,
    }),
    png: fc.record({
      bitDepth: fc.constantFrom(1, 2, 4, 8, 16),
      specialColour: fc.boolean(),
      orientation: fc.integer({ min: 1, max: 8 }),
      profile: profiles,
    }),
  })
  .map(({ jpeg, png, ...facts }) => ({
    ...facts,
    ...(facts.type === 'image/jpeg' && { jpeg }),
    ...(facts.type === 'image/png' && !facts.animated && { png }),
  }))
const anyCapabilities = fc.record({
  webAssembly: fc.boolean(),
  maxPixels: fc.constantFrom(24_000_000, MAX_PIXELS),
})
const anyMode = fc.constantFrom<Mode>('auto', 'keep-format', 'lossless', 'original')

test('changes pixels only in auto and keep-format, and types only in auto and lossless, for any file', () => {
  fc.assert(
    fc.property(anyFacts, anyMode, anyCapabilities, (facts, mode, capabilities) => {
      const plan = planFor(facts, mode, capabilities)
      if (facts.type === 'image/gif' || mode === 'original') return plan.kind === 'keep'
      if (plan.kind === 'keep') return false
      if (plan.kind === 'scrub') return true
      if (facts.animated || !capabilities.webAssembly || facts.width * facts.height > capabilities.maxPixels)
        return false
      if (plan.kind === 'jpeg') return facts.type === 'image/jpeg' && mode !== 'lossless'
      return (
        facts.type === 'image/png' &&
        (mode === 'auto' || !plan.mayBeJpeg) &&
        (mode !== 'keep-format' || !plan.mayBeWebp) &&
        (!plan.mayBeWebp || (facts.png!.bitDepth <= 8 && Math.max(facts.width, facts.height) <= 16_383))
      )
    }),
  )
})

test('recompresses JPEG only if that saves at least a tenth', () => {
  assert.equal(worthRecompressing(1000, 900), true)
  assert.equal(worthRecompressing(1000, 901), false)
})

test('changes the type only if that saves 15 %, or a third of a small file', () => {
  assert.equal(worthWebp(85_000, 100_000), true)
  assert.equal(worthWebp(85_001, 100_000), false)
  assert.equal(worthWebp(20_000, 28_000), false)
  assert.equal(worthWebp(670, 1000), true)
  assert.equal(worthWebp(671, 1000), false)
})

test('classifies large images with more than 6 bits per pixel as photographs, with a margin for samples', () => {
  assert.equal(looksLikePhoto(750_001, 1_000_000), true)
  assert.equal(looksLikePhoto(750_000, 1_000_000), false)
  assert.equal(looksLikePhoto(250_000, 250_000), false)
  assert.deepEqual([shouldTrySample(2_000_000), shouldTrySample(2_000_001)], [false, true])
  assert.deepEqual([isSurelyPhoto(93_750, 100_000), isSurelyPhoto(93_751, 100_000)], [false, true])
})

test('repacks a PNG only if that may change the outcome, and a large one at a lower level', () => {
  assert.equal(pngMayBeatWebp(425_000, 1_000_000, 1_000_000), false)
  assert.equal(pngMayBeatWebp(425_001, 1_000_000, 1_000_000), true)
  assert.equal(pngMayBeatWebp(850_000, 1_000_000, 9_000_000), false)
  assert.equal(pngMayBeatWebp(850_001, 1_000_000, 9_000_000), true)
  assert.equal(pngMayBeatWebp(1000, 9000, 9_000_000), false)
  assert.equal(pngMayBeatWebp(7000, 9000, 9_000_000), true)
  assert.deepEqual(
    [repackingLevel(4_000_000, true), repackingLevel(4_000_001, true), repackingLevel(4_000_001, false)],
    [2, 0, 1],
  )
})
