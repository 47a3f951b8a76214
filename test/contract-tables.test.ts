/** What the README says of hosts and adapters is what a run gave. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { SAVED, tableOf } from '../scripts/contracts.ts'
import { ROOT } from './support/processes/process.ts'

it('has the tables of the saved run in the README', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const [, told] = /<!-- contracts -->\n([\s\S]*?)\n<!-- \/contracts -->/.exec(readme) ?? []
  assert.equal(told, tableOf(JSON.parse(await readFile(SAVED, 'utf8'))))
})
