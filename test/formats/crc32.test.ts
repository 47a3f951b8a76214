/** CRC-32, with zlib's implementation and with the fallback. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { crc32, crc32ByTable } from '../../src/formats/bytes/crc32.ts'

for (const [name, crc] of Object.entries({ crc32, crc32ByTable })) {
  test(`${name} equals zlib's CRC, in one call and in two`, () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100, size: 'max' }),
        fc.nat(100),
        fc.nat(100),
        fc.nat(100),
        (bytes, a, b, c) => {
          const [from, middle, to] = [a, b, c].map((at) => Math.min(at, bytes.length)).sort((x, y) => x - y)
          const expected = zlibCrc32(bytes.subarray(from, to))
          assert.equal(crc(bytes, from, to), expected)
          assert.equal(crc(bytes, middle, to, crc(bytes, from, middle)), expected)
        },
      ),
    )
  })
}
