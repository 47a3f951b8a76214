/** Our HMAC is Node's (RFC 2104), for keys and texts of any length. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { it } from 'node:test'
import fc from 'fast-check'
import { nodeHashes } from '../../src/node/hashes.ts'

it('makes the same HMACs as the library', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      (key, text) => {
        const expected = createHmac('sha256', key).update(text).digest('hex')
        assert.equal(nodeHashes.hmacSha256(key, text), expected)
        assert.equal(nodeHashes.hmacSha256(key, text), expected, 'a key that is known')
      },
    ),
  )
})
