/** Image sequences: AV1 tracks, with or without a still image. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assemble, coded, image, noise, type Plan, still } from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u32 } from '../../support/images/avif/boxes.ts'
import { moov, type TrackPlan, track } from '../../support/images/avif/tracks-assembly.ts'
import { profiles } from '../../support/images/planted-profiles.ts'
import { scrub } from '../subject.ts'
import { assertOutcome, decoded, inspect } from './subject.ts'

const SECRET = 'SECRET: who made it'
const frames = await Promise.all([80, 120, 160].map((mean) => coded(noise(64, 48, mean))))
const [first, second, third] = frames as [(typeof frames)[0], (typeof frames)[0], (typeof frames)[0]]

/** A sequence with the frames as samples. `change`: builds the contents of `moov` from the default track. */
function sequence(
  change: (track: TrackPlan) => Uint8Array[] = (plan) => [track(plan)],
  plan: Plan = {},
): Uint8Array {
  const blobs = [...(plan.blobs ?? []), ...frames.map(({ data }) => data)]
  const skipped = blobs.length - frames.length
  return assemble({
    major: 'avis',
    brands: ['avis', 'msf1', 'miaf'],
    ...plan,
    blobs,
    moov: (offsets) => {
      const samples = offsets.slice(skipped).map((at, i) => ({ at, length: frames[i]!.data.length }))
      return moov(change({ picture: first, samples }))
    },
  })
}

/** The enclosing boxes of each type, outermost first. */
const AROUND = {
  mvhd: 'moov',
  tkhd: 'moov trak',
  mdia: 'moov trak',
  mdhd: 'moov trak mdia',
  hdlr: 'moov trak mdia',
  vmhd: 'moov trak mdia minf',
  dinf: 'moov trak mdia minf',
  stts: 'moov trak mdia minf stbl',
  stsz: 'moov trak mdia minf stbl',
  stco: 'moov trak mdia minf stbl',
  av01: 'moov trak mdia minf stbl stsd',
  av1C: 'moov trak mdia minf stbl stsd av01',
}

/** Replaces the first box of a type. `change`: returns what replaces it. */
function changed(
  boxes: Uint8Array,
  type: keyof typeof AROUND,
  change: (box: Buffer) => Uint8Array,
): Uint8Array {
  const made = Buffer.from(boxes)
  const sizeAt = (name: string) => made.indexOf(name) - 4
  const start = sizeAt(type)
  const end = start + made.readUInt32BE(start)
  const replacement = change(Buffer.from(made.subarray(start, end)))
  const added = replacement.length - (end - start)
  for (const around of AROUND[type].split(' '))
    made.writeUInt32BE(made.readUInt32BE(sizeAt(around)) + added, sizeAt(around))
  return Buffer.concat([made.subarray(0, start), replacement, made.subarray(end)])
}

/** A sequence of one frame. `change`: of its `moov`. */
function ofOneFrame(change: (boxes: Uint8Array) => Uint8Array, time = 0): Uint8Array {
  return assemble({
    major: 'avis',
    brands: ['avis', 'msf1', 'miaf'],
    blobs: [first.data],
    moov: ([at = 0]) =>
      change(moov([track({ picture: first, samples: [{ at, length: first.data.length }], time })], [], time)),
  })
}

describe('a sequence', () => {
  test('without a still image', async () => {
    const result = await scrub(sequence())
    assert.deepEqual([result.width, result.height, result.animated, result.unchanged], [64, 48, true, true])
  })

  test('with 64-bit offsets', async () => {
    const result = await scrub(sequence((plan) => [track({ ...plan, wideOffsets: true })]))
    assert.deepEqual([result.animated, result.unchanged], [true, true])
  })

  test('with a still image as fallback', async () => {
    const file = sequence(undefined, {
      major: 'avif',
      brands: ['avif', 'avis'],
      primary: 1,
      items: [image(1, third)],
    })
    const result = await scrub(file)
    assert.deepEqual([result.width, result.height, result.animated, result.unchanged], [64, 48, true, true])
    assert.deepEqual((await decoded(file)).data, (await decoded(still(third))).data)
  })

  test('of one sample is not animated', async () => {
    const file = sequence((plan) => [track({ ...plan, samples: plan.samples.slice(0, 1) })])
    assert.equal((await inspect(file)).animated, false)
  })

  test('a still image with the brand avis is not animated', async () => {
    const result = await scrub(still(first, { major: 'avis', brands: ['avis', 'avif', 'mif1'] }))
    assert.deepEqual([result.animated, result.unchanged], [false, true])
  })

  test('with alpha', async () => {
    const file = sequence((plan) => {
      const reference = box('tref', box('auxl', u32(1)))
      return [track(plan), track({ ...plan, id: 2, handler: 'auxv', extras: [reference] })]
    })
    const result = await scrub(file)
    assert.deepEqual([result.animated, result.unchanged], [true, true])
  })
})

describe('private data is removed from a sequence', () => {
  const meta = fullBox(
    'meta',
    0,
    0,
    fullBox('hdlr', 0, 0, u32(0), 'mdta', u32(0, 0, 0), [0]),
    box('ilst', SECRET),
  )
  const changes: Record<string, (plan: TrackPlan) => Uint8Array[]> = {
    'user data and metadata of a track': (plan) => [
      track({
        ...plan,
        extras: [box('udta', box('name', SECRET)), meta, box('uuid', new Uint8Array(16), SECRET)],
      }),
    ],
    'user data and metadata of the movie': (plan) => [
      track(plan),
      box('udta', SECRET),
      meta,
      box('free', SECRET),
    ],
    timestamps: (plan) => [track({ ...plan, time: 0x53454352 })],
    'a metadata track': (plan) => [
      track({ ...plan, extras: [box('tref', box('cdsc', u32(7)))] }),
      track({ ...plan, id: 7, handler: 'meta', entry: 'mett', samples: [], extras: [box('udta', SECRET)] }),
    ],
    'an audio track': (plan) => [
      track({ ...plan, id: 7, handler: 'soun', entry: 'SECR', samples: [] }),
      track(plan),
    ],
    'entries of tables after the last sample and chunk': (plan) => [
      track({
        ...plan,
        tables: {
          stts: fullBox('stts', 0, 0, u32(3, 3, 100), 'SECRET: SECRET: '),
          stsc: fullBox('stsc', 0, 0, u32(2, 1, 1, 1), 'SECRET: who '),
          more: bytes(
            fullBox('ctts', 0, 0, u32(4, 1, 0, 2, 0), 'SECRET: SECRET: '),
            fullBox('stss', 0, 0, u32(4, 1, 3), 'SECRSECR'),
          ),
        },
      }),
    ],
    'a thumbnail track': (plan) => [
      track(plan),
      track({ ...plan, id: 2, samples: [], extras: [box('tref', box('thmb', u32(1))), box('udta', SECRET)] }),
    ],
    'a video track in another codec': (plan) => [
      track(plan),
      track({ ...plan, id: 3, handler: 'vide', entry: 'hvc1', extras: [box('udta', SECRET)] }),
    ],
  }
  for (const [name, change] of Object.entries(changes)) {
    test(name, async () => {
      const file = sequence(change)
      const result = await scrub(file)
      assert.equal(result.unchanged, false)
      assert.equal(result.file.length, file.length)
      assert.equal(Buffer.from(result.file).includes('SECR'), false)
      for (const { data } of frames) {
        assert.equal(Buffer.from(result.file).indexOf(data), Buffer.from(file).indexOf(data))
      }
      const again = await scrub(result.file)
      assert.deepEqual([again.unchanged, again.animated], [true, true])
    })
  }

  test('samples of a removed track between those of a kept track', async () => {
    const blobs = [bytes(SECRET), new Uint8Array(50).fill(0x53)]
    const file = sequence(
      (plan) => {
        const at = plan.samples[0]!.at - 50 - SECRET.length
        const audioSamples = [{ at, length: SECRET.length }]
        return [track(plan), track({ ...plan, id: 2, handler: 'soun', entry: 'mp4a', samples: audioSamples })]
      },
      { blobs },
    )
    const result = await scrub(file)
    assert.equal(Buffer.from(result.file).includes('SECRET'), false)
    assert.equal(Buffer.from(result.file).includes('SSS'), false)
    for (const { data } of frames) assert.equal(Buffer.from(result.file).includes(Buffer.from(data)), true)
  })

  test('a movie without AV1 tracks as a whole, but not the still image', async () => {
    const file = sequence((plan) => [track({ ...plan, handler: 'vide', entry: 'hvc1' })], {
      major: 'avif',
      brands: ['avif'],
      primary: 1,
      items: [image(1, third)],
    })
    const result = await scrub(file)
    assert.equal(result.animated, false)
    for (const type of ['moov', 'hvc1']) assert.equal(Buffer.from(result.file).includes(type), false)
    assert.equal(Buffer.from(result.file).includes(Buffer.from(first.data)), false)
    assert.deepEqual((await decoded(result.file)).data, (await decoded(still(third))).data)
  })

  test('a location in the user data of a track', async () => {
    const userData = box('udta', box('\u00a9xyz', '+51.5-0.1/'))
    assert.equal(
      (await inspect(sequence((plan) => [track({ ...plan, extras: [userData] })]))).hasLocation,
      true,
    )
    assert.equal((await inspect(sequence())).hasLocation, false)
  })
})

describe('a damaged sequence is refused', () => {
  const withTables = (tables: TrackPlan['tables']) => (plan: TrackPlan) => [
    track({ ...plan, ...(tables && { tables }) }),
  ]
  const cases: Record<string, (plan: TrackPlan) => Uint8Array[]> = {
    'a sample outside the file': (plan) => [track({ ...plan, samples: [{ at: 1_000_000, length: 10 }] })],
    'a sample outside the data': (plan) => [track({ ...plan, samples: [{ at: 30, length: 10 }] })],
    'a sample too long': (plan) => [
      track({ ...plan, samples: plan.samples.map((one) => ({ ...one, length: 1e6 })) }),
    ],
    'a truncated sample': (plan) => [
      track({ ...plan, samples: plan.samples.map((one) => ({ ...one, length: one.length - 1 })) }),
    ],
    'an empty sample': (plan) => [
      track({ ...plan, samples: plan.samples.map((one) => ({ ...one, length: 0 })) }),
    ],
    'no samples': (plan) => [track({ ...plan, samples: [] })],
    'a time for no samples': withTables({ stts: fullBox('stts', 0, 0, u32(2, 0, 100, 3, 100)) }),
    'an offset for no samples': withTables({ stsc: fullBox('stsc', 0, 0, u32(2, 1, 3, 1, 2, 0, 1)) }),
    'a description that does not exist': withTables({ stsc: fullBox('stsc', 0, 0, u32(1, 1, 1, 2)) }),
    'key frames out of order': withTables({ more: fullBox('stss', 0, 0, u32(2, 2, 1)) }),
    'no pixels': (plan) => [track({ ...plan, picture: { ...first, width: 0 } })],
    'no av1C': (plan) => [track({ ...plan, picture: { ...first, av1C: box('free', [0]) } })],
    'no track': () => [],
  }
  for (const [name, change] of Object.entries(cases)) {
    test(name, () => assertOutcome(sequence(change), 'damaged-image'))
  }

  const patches: Record<string, (file: Buffer) => void> = {
    'more samples than the chunks hold': (file) => file.writeUInt32BE(4, file.indexOf('stsz') + 12),
    'an absurd number of samples': (file) => file.set(u32(1, 0xffffffff), file.indexOf('stsz') + 8),
    'a second sample that is not AV1': (file) => file.set([0xff], file.indexOf(second.data)),
  }
  for (const [name, patch] of Object.entries(patches)) {
    test(name, async () => {
      const file = Buffer.from(sequence())
      patch(file)
      await assertOutcome(file, 'damaged-image')
    })
  }
})

describe('duplicate boxes in a track are refused', () => {
  const colour = box('colr', 'nclx', [0, 1, 0, 13, 0, 6, 0x80])
  const cases: Record<string, [extra: Uint8Array, after: keyof typeof AROUND]> = {
    'a second handler, without fields': [box('hdlr'), 'hdlr'],
    'a second handler of four bytes': [box('hdlr', u32(0)), 'hdlr'],
    'a second header': [fullBox('mvhd', 0, 0, new Uint8Array(96)), 'mvhd'],
    'a second mdia': [box('mdia'), 'mdia'],
    'a second stco': [fullBox('stco', 0, 0, u32(1, 0)), 'stco'],
    'stco and co64': [fullBox('co64', 0, 0, u32(0)), 'stts'],
    'a second stsz': [fullBox('stsz', 0, 0, u32(0, 1, 1)), 'stsz'],
    'stsz and stz2': [fullBox('stz2', 0, 0, u32(8, 0)), 'stts'],
    'a second colr with code points': [bytes(colour, colour), 'av1C'],
    'a second av1C': [box('av1C', first.av1C.subarray(8)), 'av1C'],
  }
  for (const [name, [extra, after]] of Object.entries(cases)) {
    test(name, async () => {
      assert.ok((await scrub(ofOneFrame((boxes) => boxes))).unchanged)
      const twice = ofOneFrame((boxes) => changed(boxes, after, (made) => bytes(made, extra)))
      await assertOutcome(twice, 'damaged-image')
    })
  }

  test('except for colr: one with a profile, one with code points', async () => {
    const colours = [colour, box('colr', 'prof', (await profiles()).tag)]
    const picture = { ...first, av1C: bytes(first.av1C, ...colours) }
    assert.ok((await scrub(sequence((plan) => [track({ ...plan, picture })]))).unchanged)
  })
})

describe('a box that ends before its last field', () => {
  for (const type of Object.keys(AROUND) as (keyof typeof AROUND)[]) {
    test(`${type}: scrubbing does not write into the next box`, async () => {
      const made = Buffer.from(ofOneFrame((boxes) => boxes))
      const whole = made.readUInt32BE(made.indexOf(type) - 4)
      for (let size = 8; size <= whole; size++) {
        const shorter = (boxes: Uint8Array) =>
          changed(boxes, type, (box) => bytes(u32(size), box.subarray(4, size)))
        const result = await scrub(ofOneFrame(shorter, 77)).catch((error) => {
          if (size === whole || error.code !== 'damaged-image') throw error
        })
        if (result !== undefined) assert.ok((await scrub(result.file)).unchanged, `${size} of ${whole} bytes`)
      }
    })
  }
})
