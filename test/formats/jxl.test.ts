/** JPEG XL headers, written bit by bit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memorySource } from '../../src/formats/image.ts'
import { readJxl } from '../../src/formats/jxl.ts'
import { box, bytes, u32 } from '../support/images/avif/boxes.ts'

type Field = [value: number, bits: number]

/** Least significant bit first. */
function codestream(...fields: Field[]): Uint8Array {
  const bits = fields.flatMap(([value, count]) => Array.from({ length: count }, (_, i) => (value >> i) & 1))
  const body = new Uint8Array(Math.ceil(bits.length / 8) + 8)
  for (const [at, bit] of bits.entries()) body[at >> 3]! |= bit << (at & 7)
  return bytes([0xff, 0x0a], body)
}

const no: Field = [0, 1]
const yes: Field = [1, 1]
/** 300 by 200: not "small", sides of nine bits, no ratio. */
const SIZE: Field[] = [no, [0, 2], [199, 9], [0, 3], [0, 2], [299, 9]]
const PLAIN: Field[] = [...SIZE, yes]
/** Eight bits per sample, a flag, no extra channels, a flag. */
const SAMPLES: Field[] = [no, [0, 2], no, [0, 2], yes]
const extras = (orientation: number, isAnimated: boolean): Field[] => [
  ...SIZE,
  no,
  yes,
  [orientation - 1, 3],
  no,
  no,
  isAnimated ? yes : no,
]
const ANIMATION: Field[] = [[0, 2], [0, 2], [0, 2], no]
/** Enumerated values up to 17 take four bits after the selector. */
const enumerated = (value: number): Field[] =>
  value < 2
    ? [[value, 2]]
    : [
        [2, 2],
        [value - 2, 4],
      ]
const colours = (primaries: number, transfer: number): Field[] => [
  no,
  no,
  ...enumerated(0),
  ...enumerated(1),
  ...enumerated(primaries),
  no,
  ...(transfer > 17
    ? ([
        [3, 2],
        [transfer - 18, 6],
      ] as Field[])
    : enumerated(transfer)),
]

const read = (file: Uint8Array) => readJxl(memorySource(file))

test('reads the size and colours of a plain image', async () => {
  assert.deepEqual(await read(codestream(...PLAIN)), {
    width: 300,
    height: 200,
    animated: false,
    isHdr: false,
    isSrgb: true,
    hasLocation: false,
  })
  const small = codestream(yes, [4, 5], [3, 3], yes)
  assert.deepEqual([(await read(small)).width, (await read(small)).height], [53, 40])
})

test('applies the orientation to the size', async () => {
  const { width, height } = await read(codestream(...extras(6, false), ...SAMPLES, ...colours(1, 13)))
  assert.deepEqual([width, height], [200, 300])
})

test('detects animations', async () => {
  assert.equal((await read(codestream(...extras(1, true), ...ANIMATION, ...SAMPLES, yes))).animated, true)
  assert.equal((await read(codestream(...extras(1, false), ...SAMPLES, yes))).animated, false)
})

test('detects PQ, HLG, and wide-gamut colours', async () => {
  const of = async (primaries: number, transfer: number) => {
    const { isHdr, isSrgb } = await read(
      codestream(...SIZE, no, no, ...SAMPLES, ...colours(primaries, transfer)),
    )
    return { isHdr, isSrgb }
  }
  assert.deepEqual(await of(1, 13), { isHdr: false, isSrgb: true })
  assert.deepEqual(await of(11, 13), { isHdr: false, isSrgb: false })
  assert.deepEqual(await of(9, 16), { isHdr: true, isSrgb: false })
  assert.deepEqual(await of(9, 18), { isHdr: true, isSrgb: false })
})

test('skips a named alpha channel', async () => {
  const channels: Field[] = [no, [0, 2], no, [1, 2]]
  const named: Field[] = [no, ...enumerated(0), no, [0, 2], [0, 2], [1, 2], [3, 4], [0x414141, 24], no]
  const file = codestream(...extras(1, false), ...channels, ...named, yes, ...colours(9, 16))
  assert.equal((await read(file)).isHdr, true)
})

const SIGNATURE = box('JXL ', [0x0d, 0x0a, 0x87, 0x0a])
const inBoxes = (...boxes: Uint8Array[]) => bytes(SIGNATURE, box('ftyp', 'jxl ', u32(0), 'jxl '), ...boxes)

test('reads a codestream in boxes, in one part or several', async () => {
  const stream = codestream(...PLAIN)
  const parts = inBoxes(box('jxlp', u32(0), stream), box('jxlp', u32(0x8000_0001), [0]))
  assert.deepEqual(await read(inBoxes(box('jxlc', stream))), await read(stream))
  assert.deepEqual(await read(parts), await read(stream))
})

test('refuses truncated files and files without an image', async () => {
  const stream = codestream(...extras(1, true), ...ANIMATION, ...SAMPLES, ...colours(1, 13))
  const cut = stream.subarray(0, 6)
  for (const file of [cut, inBoxes(box('Exif', u32(0))), inBoxes(box('jxlc', 'nothing')), SIGNATURE])
    await assert.rejects(read(file), { code: 'damaged-image' })
})
