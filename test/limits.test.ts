/** docs/limits.md says the limits that are in the code, every error code is in the README, every promise and threat has its tests. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { limitsPage } from '../src/node/http/limits-page.ts'
import { CODES } from '../src/openapi/codes.ts'
import { statusOf } from '../src/problems.ts'
import { ROOT } from './support/processes/process.ts'

it('the page of limits is as the code is: node src/node/http/limits-page.ts > docs/limits.md', async () => {
  assert.equal(await readFile(join(ROOT, 'docs/limits.md'), 'utf8'), limitsPage())
})

for (const [what, heading] of [
  ['promise', 'What is promised'],
  ['threat', 'What the server defends against'],
] as const) {
  it(`every ${what} that SECURITY.md names has tests that are there`, async () => {
    const page = await readFile(join(ROOT, 'SECURITY.md'), 'utf8')
    const section =
      page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? assert.fail(heading)
    const table = section.split('\n').filter((line) => line.startsWith('|'))
    assert.match(table[0]!, new RegExp(`^\\| ${what} \\| .+ \\| tests \\|$`))
    const rows = table.slice(2)
    assert.ok(rows.length > 10)
    for (const row of rows) {
      const [, name, tests] =
        /^\| (.+?) \| .+ \| (`test\/.+) \|$/.exec(row) ?? assert.fail(`without its tests: ${row}`)
      assertThere(name!, tests!)
    }
  })
}

function assertThere(row: string, tests: string): void {
  let folder = ''
  for (const [, name] of tests.matchAll(/`([^`]+)`/g)) {
    if (name!.startsWith('npm run ')) continue
    // A name alone is in the folder of the one before it.
    const path = name!.includes('/') ? name! : join(folder, name!)
    folder = dirname(path)
    assert.ok(existsSync(join(ROOT, path)), `${row}: ${path}`)
  }
}

it('the README has every error code, with its status', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const listed = new Map<string, number>()
  for (const [, codes, statuses] of readme.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| ([\d, ]+) \|/gm)) {
    const each = statuses!.split(', ').map(Number)
    // One status for all of a row, or one for each.
    for (const [nth, code] of codes!.split(', ').entries())
      listed.set(code.replaceAll('`', ''), each[nth] ?? each[0]!)
  }
  const codes = Object.keys(CODES) as (keyof typeof CODES)[]
  assert.deepEqual(
    Object.fromEntries([...listed].sort()),
    Object.fromEntries(codes.map((code) => [code, statusOf(code)] as const).sort()),
  )
})
