import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LANGUAGES, pickLanguage } from '../../src/web/messages/language.ts'
import { byteSize, fill, limitSize, plural } from '../../src/web/messages/wording.ts'

describe('page language', () => {
  for (const [header, lang] of [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-CH, en;q=0.5', 'de'],
    ['en;q=0.5, fr;q=0.9', 'fr'],
    ['ja, fr;q=0.2, de;q=0.3', 'de'],
    ['de;q=0, fr', 'fr'],
    ['*', 'en'],
    ['FR-fr', 'fr'],
    ['de;q=zwei, fr;q=0.1', 'fr'],
    [`${'x,'.repeat(5000)}de`, 'en'],
  ] as const) {
    it(`is ${lang} for ${header === undefined ? 'no header' : JSON.stringify(header.slice(0, 40))}`, () => {
      assert.equal(pickLanguage(header).messages.lang, lang)
    })
  }
})

describe('messages', () => {
  const [english, ...others] = LANGUAGES
  const paths = (value: unknown, path = ''): [string, string][] =>
    typeof value === 'string'
      ? [[path, value]]
      : Object.entries(value as object).flatMap(([name, inner]) => paths(inner, `${path}.${name}`))
  const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

  for (const messages of others) {
    it(`have the same keys and placeholders in ${messages.lang} as in English`, () => {
      const translated = new Map(paths(messages))
      assert.deepEqual(
        [...translated.keys()].sort(),
        paths(english)
          .map(([path]) => path)
          .sort(),
      )
      for (const [path, text] of paths(english)) {
        assert.notEqual(translated.get(path)?.trim(), '', path)
        assert.deepEqual(placeholders(translated.get(path) ?? ''), placeholders(text), path)
      }
    })
  }

  it('have a valid language tag and direction', () => {
    for (const { lang, dir } of LANGUAGES) assert.match(`${lang} ${dir}`, /^[a-z]{2} (ltr|rtl)$/)
  })
})

describe('wording', () => {
  it('fills placeholders and keeps those without a value', () => {
    assert.equal(fill('{a} of {b}, {c}', { a: 1, b: 'two' }), '1 of two, {c}')
  })

  it('picks the plural form of the language', () => {
    const forms = { one: '{count} picture', other: '{count} pictures' }
    assert.equal(plural('en', forms, 1), '1 picture')
    assert.equal(plural('en', forms, 0), '0 pictures')
    assert.equal(plural('fr', forms, 0), '0 picture')
    assert.equal(plural('de', forms, 1200), '1.200 pictures')
  })

  it('formats sizes with 1,000 bytes per kilobyte, and the limit as 25 MB', () => {
    assert.equal(limitSize('en', 26_214_400), '25\u00a0MB')
    assert.equal(limitSize('en', 3_000_001), '3\u00a0MB')
    assert.equal(byteSize('en', 26_214_400), '26\u00a0MB')
    assert.equal(byteSize('en', 999), '999\u00a0bytes')
    assert.equal(byteSize('en', 1000), '1\u00a0kB')
    assert.equal(byteSize('en', 0), '0\u00a0bytes')
    assert.equal(byteSize('en', 1), '1\u00a0byte')
    assert.equal(byteSize('en', 829_183), '829\u00a0kB')
    assert.equal(byteSize('de', 1_990_656), '2\u00a0MB')
    assert.equal(byteSize('fr', 1_990_656), '2\u202fMo')
  })
})
