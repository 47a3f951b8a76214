/** CRC-32 as it is computed where zlib has it, and where it has not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 as ofZlib } from 'node:zlib'
import fc from 'fast-check'
import { crc32, crc32ByTable } from '../../src/formats/bytes/crc32.ts'

for (const [name, crc] of Object.entries({ crc32, crc32ByTable })) {
  test(`${name}: of a part of the bytes, whole or in two pieces, as zlib's`, () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100, size: 'max' }),
        fc.nat(100),
        fc.nat(100),
        fc.nat(100),
        (bytes, a, b, c) => {
          const [from, middle, to] = [a, b, c].map((at) => Math.min(at, bytes.length)).sort((x, y) => x - y)
          const expected = ofZlib(bytes.subarray(from, to))
          assert.equal(crc(bytes, from, to), expected)
          assert.equal(crc(bytes, middle, to, crc(bytes, from, middle)), expected)
        },
      ),
    )
  })
}
