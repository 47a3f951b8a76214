/** Fuzzing: any damaged file gives a consistent result, or a `Refusal`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { extent } from '../support/extent.ts'
import { box, u32 } from '../support/images/avif/boxes.ts'
import { avifSeeds } from '../support/images/avif/seeds.ts'
import { madeImages } from '../support/images/images.ts'
import { assertHandled } from './subject.ts'

/** For a longer search: `FUZZ_RUNS=1000000 node --test test/formats/hostile.test.ts`. */
const RUNS = Number(process.env.FUZZ_RUNS ?? extent(15_000, 700))

const made = (await madeImages()).map(({ bytes }) => bytes).filter(({ length }) => length < 20_000)
const base = fc.oneof(fc.constantFrom(...made), fc.constantFrom(...(await avifSeeds())))
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
  // Inflated box sizes, in 32 and 64 bits.
  editBy(
    fc.tuple(
      place,
      fc.oneof(
        fc.constantFrom(0, 1, 2, 7, 8, 15, 16, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff),
        fc.nat({ max: 5000 }),
      ),
      fc.option(fc.constantFrom(u32(0, 16), u32(0, 0), u32(0, 900), u32(0xffffffff, 0xffffffff), u32(1, 0))),
    ),
    (bytes, [at, value, large]) => {
      const heads = headersOf(bytes)
      const head = heads[Math.floor(at * (heads.length - 1))]
      if (head === undefined) return bytes
      const copy = Buffer.from(bytes)
      copy.writeUInt32BE(large ? 1 : value, head)
      if (large) copy.set(large.subarray(0, Math.max(0, bytes.length - head - 8)), head + 8)
      return copy
    },
  ),
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
      if ((await assertHandled(hostile)) !== null) accepted++
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
    box('ftyp', 'avif', u32(0), 'mif1'),
  )
  await fc.assert(
    fc.asyncProperty(signature, fc.uint8Array({ maxLength: 300, size: 'max' }), async (start, rest) => {
      await assertHandled(Buffer.concat([start, rest]))
    }),
    { numRuns: RUNS / 2 },
  )
})

/** Offsets of everything that looks like a box. */
function headersOf(file: Uint8Array): number[] {
  const types =
    'ftyp meta hdlr pitm iloc iinf infe iref iprp ipco ispe av1C ipma grpl idat mdat uuid moov trak tkhd stbl stsd stsz stsc stco av01 dimg auxl cdsc altr tref udta'
  const text = Buffer.from(file).toString('latin1')
  return types.split(' ').flatMap((type) => {
    const found = [...text.matchAll(new RegExp(type, 'g'))].map(({ index }) => index - 4)
    return found.filter((head) => head >= 0)
  })
}
