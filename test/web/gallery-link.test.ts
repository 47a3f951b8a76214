import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashOf, parseHash } from '../../src/web/browser/gallery/link.ts'
import { extent } from '../support/extent.ts'

const ids = fc.stringMatching(/^[0-9A-Za-z]{11}$/)

describe('the link of a gallery', () => {
  it('brings back what it was made of, also when a chat escaped its commas', () => {
    const picture = fc.record({ id: ids, alt: fc.string({ unit: 'grapheme', maxLength: 60, size: 'max' }) })
    fc.assert(
      fc.property(fc.uniqueArray(picture, { selector: ({ id }) => id }), (pictures) => {
        const wanted = pictures.map(({ id, alt }) => ({ id, alt: alt.replace(/,(?=\S)/g, ', ') }))
        const hash = hashOf(pictures)
        assert.deepEqual(parseHash(hash), wanted)
        assert.deepEqual(parseHash(hash.replaceAll(',', '%2C')), wanted)
      }),
      { numRuns: extent(1000, 100) },
    )
  })

  it('takes anything for an empty gallery that names no picture', () => {
    // Random characters alone would never be an id.
    const piece = fc.oneof(ids, fc.constantFrom('#', ',', '%2C', '+', '=', '%', 'a', '../'), fc.string())
    let found = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20, size: 'max' }), (pieces) => {
        for (const { id } of parseHash(`#${pieces.join('')}`)) {
          assert.match(id, /^[0-9A-Za-z]{11}$/)
          found++
        }
      }),
      { numRuns: extent(1000, 100) },
    )
    assert.ok(found > 0)
    assert.deepEqual(parseHash('#../../etc,%E0%A4%A,<b>'), [])
    assert.deepEqual(parseHash('#AAAAAAAAAAA=%E0%A4%A,AAAAAAAAAAA'), [{ id: 'AAAAAAAAAAA', alt: '' }])
  })
})
