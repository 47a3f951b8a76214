/** Figures in README and docs match a saved benchmark; the tables of hosts and adapters match a saved test run. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { createLookup, MARKED, readPages, SAVED } from '../bench/report/readme.ts'
import { WAYS } from '../bench/ways/ways.ts'
import { SAVED as CONTRACTS, tableOf } from '../scripts/contracts.ts'

const pages = await readPages()
const figureOf = createLookup(pages.values())

/** Claims that need a marker. */
const CLAIM = /\d[\d,.]* (?:req\/s|uploads\/s|times the (?:rate|speed))/g

describe('figures', () => {
  for (const [page, text] of pages) {
    it(`match in ${page}`, () => {
      const prose = text.replaceAll(SAVED, '')
      for (const [, marker, figure] of prose.matchAll(MARKED)) assert.equal(figure, figureOf(marker!), marker)
      const unmarked = prose.replaceAll(MARKED, '')
      if (!page.startsWith('bench/')) assert.deepEqual(unmarked.match(CLAIM) ?? [], [])
    })
  }

  it('in the README’s table of upload methods cover every method in the benchmark', () => {
    const [, table = ''] =
      /<!-- figures: ways -->\n([\s\S]*?)<!-- end: ways -->/.exec(pages.get('README.md')!) ?? []
    const rows = [...table.matchAll(/^\| (.+?) +\| `(.+?)` +\|/gm)].map(([, name, command]) => ({
      name,
      command,
    }))
    assert.deepEqual(rows, WAYS)
  })

  it('in the tables of hosts and adapters match the saved run of the contract tests', async () => {
    const [, table] =
      /<!-- contracts -->\n([\s\S]*?)\n<!-- \/contracts -->/.exec(pages.get('README.md')!) ?? []
    assert.equal(table, tableOf(JSON.parse(await readFile(CONTRACTS, 'utf8'))))
  })

  it('are looked up by row and column', () => {
    assert.match(figureOf('get | GET 10 KB | nginx') ?? '', /^\d/)
    assert.equal(figureOf('get | GET 11 KB | nginx'), null)
    assert.equal(figureOf('get | GET 10 KB | nothing'), null)
  })
})
