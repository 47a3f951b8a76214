import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashOf, linkedIn } from '../../src/web/browser/gallery/link.ts'
import { extent } from '../support/extent.ts'

const ids = fc.stringMatching(/^[0-9A-Za-z]{11}$/)

describe('the link of a gallery', () => {
  it('brings back what it was made of, also when a chat escaped its commas', () => {
    const picture = fc.record({ id: ids, alt: fc.string({ unit: 'grapheme', maxLength: 60 }) })
    fc.assert(
      fc.property(fc.uniqueArray(picture, { selector: ({ id }) => id }), (pictures) => {
        const wanted = pictures.map(({ id, alt }) => ({ id, alt: alt.replace(/,(?=\S)/g, ', ') }))
        const hash = hashOf(pictures)
        assert.deepEqual(linkedIn(hash), wanted)
        assert.deepEqual(linkedIn(hash.replaceAll(',', '%2C')), wanted)
      }),
      { numRuns: extent(1000, 100) },
    )
  })

  it('takes anything for an empty gallery that names no picture', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { id } of linkedIn(text)) assert.match(id, /^[0-9A-Za-z]{11}$/)
      }),
      { numRuns: extent(1000, 100) },
    )
    assert.deepEqual(linkedIn('#../../etc,%E0%A4%A,<b>'), [])
    assert.deepEqual(linkedIn('#AAAAAAAAAAA=%E0%A4%A,AAAAAAAAAAA'), [{ id: 'AAAAAAAAAAA', alt: '' }])
  })
})
