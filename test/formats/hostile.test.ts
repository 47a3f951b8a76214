/** Fuzzing: any damaged file gives a consistent result, or a `Refusal`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../src/errors.ts'
import { type Inspection, lengthOf, memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { extent } from '../support/extent.ts'
import { madeImages } from '../support/images/images.ts'
import { scrub } from './subject.ts'

/** Maximum length added by `minimalExif`, a gain map's XMP and new headers. Unit: bytes. */
const ADDED_BYTES = 2048

/** For a longer search: `FUZZ_RUNS=1000000 node --test test/formats/hostile.test.ts`. */
const RUNS = Number(process.env.FUZZ_RUNS ?? extent(3000, 200))

const bases = (await madeImages()).map(({ bytes }) => bytes).filter(({ length }) => length < 20_000)
const base = fc.constantFrom(...bases)
/** A position in a file, as a fraction, biased towards the start, where the headers are. */
const place = fc
  .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean())
  .map(([at, near]) => (near ? at ** 4 : at))

type Edit = (bytes: Uint8Array) => Uint8Array

function editBy<T>(
  values: fc.Arbitrary<T>,
  change: (bytes: Uint8Array, value: T) => Uint8Array,
): fc.Arbitrary<Edit> {
  return values.map((value) => (bytes) => change(bytes, value))
}

const edit: fc.Arbitrary<Edit> = fc.oneof(
  editBy(fc.tuple(place, fc.nat(255)), (bytes, [at, value]) =>
    bytes.with(Math.floor(at * (bytes.length - 1)), value),
  ),
  editBy(fc.tuple(place, fc.nat(7)), (bytes, [at, bit]) => {
    const index = Math.floor(at * (bytes.length - 1))
    return bytes.with(index, bytes[index]! ^ (1 << bit))
  }),
  editBy(fc.tuple(place, place), (bytes, [from, length]) => {
    const start = Math.floor(from * bytes.length)
    return Buffer.concat([
      bytes.subarray(0, start),
      bytes.subarray(start + Math.floor(length * bytes.length)),
    ])
  }),
  editBy(fc.tuple(place, fc.uint8Array({ maxLength: 40, size: 'max' })), (bytes, [at, more]) =>
    insert(bytes, at, more),
  ),
  editBy(fc.tuple(place, base, place, place), (bytes, [at, other, from, length]) => {
    const start = Math.floor(from * other.length)
    return insert(bytes, at, other.subarray(start, start + Math.floor(length * other.length)))
  }),
  // Inflated length fields, of every width and byte order.
  editBy(
    fc.tuple(place, fc.constantFrom(2, 4, 8), fc.constantFrom(0xff, 0x7f, 0x80, 0, 1)),
    (bytes, [at, width, value]) => {
      const start = Math.floor(at * Math.max(0, bytes.length - width))
      return Uint8Array.from(bytes).fill(value, start, start + width)
    },
  ),
  editBy(place, (bytes, at) => bytes.subarray(0, Math.ceil(at * bytes.length))),
)

function insert(bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array {
  const index = Math.floor(at * bytes.length)
  return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)])
}

test('edited files give a consistent result or a refusal', async (t) => {
  let accepted = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(base, fc.array(edit, { minLength: 1, maxLength: 5 }), async (bytes, edits) => {
      const hostile = edits.reduce((edited, change) => (edited.length > 0 ? change(edited) : edited), bytes)
      if (await isAcceptedConsistently(hostile)) accepted++
      else refused++
    }),
    { numRuns: RUNS },
  )
  t.diagnostic(`${accepted} accepted, ${refused} refused`)
  assert.ok(accepted > RUNS / 60 && refused > RUNS / 60, 'both outcomes occur')
})

test('arbitrary bytes after a signature give a consistent result or a refusal', async () => {
  const signature = fc.constantFrom(
    Buffer.from([0xff, 0xd8, 0xff]),
    Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
    Buffer.from('GIF89a'),
    Buffer.from('RIFF\x30\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'),
    Buffer.from('RIFF\x30\0\0\0WEBPVP8 ', 'latin1'),
  )
  await fc.assert(
    fc.asyncProperty(signature, fc.uint8Array({ maxLength: 300, size: 'max' }), async (start, rest) => {
      await isAcceptedConsistently(Buffer.concat([start, rest]))
    }),
    { numRuns: RUNS / 2 },
  )
})

/** Throws when the result is inconsistent. `false` when the file is refused. */
async function isAcceptedConsistently(bytes: Uint8Array): Promise<boolean> {
  let inspection: Inspection
  try {
    inspection = await inspect(memorySource(bytes))
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.match(error.code, /^(damaged-image|unsupported-type)$/)
    return false
  }
  assert.ok(inspection.width >= 1 && inspection.height >= 1)
  let end = 0
  for (const segment of inspection.segments) {
    if (segment instanceof Uint8Array) continue
    assert.ok(segment.length > 0 && segment.offset >= end && segment.offset + segment.length <= bytes.length)
    end = segment.offset + segment.length
  }
  assert.ok(lengthOf(inspection.segments) <= bytes.length + ADDED_BYTES)

  const { file, width, height, type } = await scrub(bytes)
  const again = await scrub(file)
  assert.deepEqual([again.type, again.width, again.height], [type, width, height])
  assert.equal(again.unchanged, true, 'scrubbing is idempotent')
  return true
}
