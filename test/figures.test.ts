/** Figures in README and docs are those of a saved bench, and its tables of hosts and adapters those of a saved run. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { createLookup, MARKED, readPages, SAVED } from '../bench/report/readme.ts'
import { WAYS } from '../bench/ways/ways.ts'
import { SAVED as CONTRACTS, tableOf } from '../scripts/contracts.ts'

const pages = await readPages()
const figureOf = createLookup(pages.values())

/** What a page may not say without a marker. */
const CLAIM = /\d[\d,.]* (?:req\/s|uploads\/s|times the (?:rate|speed))/g

describe('figures', () => {
  for (const [page, text] of pages) {
    it(`of ${page}`, () => {
      const prose = text.replaceAll(SAVED, '')
      for (const [, marker, told] of prose.matchAll(MARKED)) assert.equal(told, figureOf(marker!), marker)
      const unmarked = prose.replaceAll(MARKED, '')
      if (!page.startsWith('bench/')) assert.deepEqual(unmarked.match(CLAIM) ?? [], [])
    })
  }

  it('of the README’s ways in are of each that the bench tries', () => {
    const [, table = ''] =
      /<!-- figures: ways -->\n([\s\S]*?)<!-- end: ways -->/.exec(pages.get('README.md')!) ?? []
    const rows = [...table.matchAll(/^\| (.+?) +\| `(.+?)` +\|/gm)].map(([, name, command]) => ({
      name,
      command,
    }))
    assert.deepEqual(rows, WAYS)
  })

  it('of hosts and adapters are those of the saved run of the contracts', async () => {
    const [, told] =
      /<!-- contracts -->\n([\s\S]*?)\n<!-- \/contracts -->/.exec(pages.get('README.md')!) ?? []
    assert.equal(told, tableOf(JSON.parse(await readFile(CONTRACTS, 'utf8'))))
  })

  it('are found by their row and column', () => {
    assert.match(figureOf('get | GET 10 KB | nginx') ?? '', /^\d/)
    assert.equal(figureOf('get | GET 11 KB | nginx'), null)
    assert.equal(figureOf('get | GET 10 KB | nothing'), null)
  })
})
