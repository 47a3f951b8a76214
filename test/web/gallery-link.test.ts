import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashOf, parseHash } from '../../src/web/browser/gallery/link.ts'
import { extent } from '../support/extent.ts'

const ids = fc.stringMatching(/^[0-9A-Za-z]{11}$/)

describe('gallery links', () => {
  it('round-trips pictures and descriptions, even if a chat escaped the commas', () => {
    const picture = fc.record({ id: ids, alt: fc.string({ unit: 'grapheme', maxLength: 60, size: 'max' }) })
    fc.assert(
      fc.property(fc.uniqueArray(picture, { selector: ({ id }) => id }), (pictures) => {
        const expected = pictures.map(({ id, alt }) => ({ id, alt: alt.replace(/,(?=\S)/g, ', ') }))
        const hash = hashOf(pictures)
        assert.deepEqual(parseHash(hash), expected)
        assert.deepEqual(parseHash(hash.replaceAll(',', '%2C')), expected)
      }),
      { numRuns: extent(1000, 100) },
    )
  })

  it('never throws on malformed input and returns only valid IDs', () => {
    // Random characters alone would never form an ID.
    const fragment = fc.oneof(ids, fc.constantFrom('#', ',', '%2C', '+', '=', '%', 'a', '../'), fc.string())
    let found = 0
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 20, size: 'max' }), (fragments) => {
        for (const { id } of parseHash(`#${fragments.join('')}`)) {
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
