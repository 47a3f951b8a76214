/** docs/limits.md matches the limits in the code; every promise and threat in SECURITY.md has tests. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { LIMITS } from '../src/node/http/limits.ts'
import { REJECTED_REPORTS, REPORT_BUDGETS } from '../src/service/moderation/reports.ts'
import { ROOT } from './support/processes/process.ts'

it('docs/limits.md matches the limits in the code', async () => {
  const page = await readFile(join(ROOT, 'docs/limits.md'), 'utf8')
  const figures = await figuresInCode()
  for (const row of page.split('\n').filter((line) => /^\| .+`[\w.]+` \|$/.test(line))) {
    const [, figure, name] = / \| (\d+(?: \w+)?) \| `([\w.]+)` \|$/.exec(row) ?? assert.fail(row)
    assert.ok(figures.get(name!)?.includes(unitless(figure!)), `${row}\nin the code: ${figures.get(name!)}`)
  }
})

/** Members of `LIMITS` and constants of all modules, by name. Times in ms, sizes in bytes. */
async function figuresInCode(): Promise<Map<string, number[]>> {
  const figures = new Map<string, number[]>()
  const add = (name: string, figure: number) => figures.set(name, [...(figures.get(name) ?? []), figure])
  for (const [name, figure] of Object.entries(LIMITS)) add(name, figure)
  for (const [name, figure] of Object.entries(REPORT_BUDGETS)) add(`REPORT_BUDGETS.${name}`, figure)
  add('REJECTED_REPORTS.burst', REJECTED_REPORTS.burst)
  for await (const path of glob('src/**/*.ts', { cwd: ROOT }))
    for (const [, name, product] of (await readFile(join(ROOT, path), 'utf8')).matchAll(CONSTANT))
      add(name!, productOf(product!))
  return figures
}

const CONSTANT = /^(?:export )?const ([A-Z_]+) = ([\d_]+(?: \*{1,2} [\d_]+)*)$/gm

/** The value of `4 * 1024` or `2 ** 18`. */
function productOf(text: string): number {
  return text
    .replaceAll('_', '')
    .split(' * ')
    .map((factor) => factor.split(' ** ').map(Number))
    .reduce((product, [base, exponent = 1]) => product * base! ** exponent, 1)
}

/** The value of `25 MiB` or `15 s`. */
function unitless(figure: string): number {
  const [count, unit = ''] = figure.split(' ')
  const factors: Record<string, number> = { '': 1, ms: 1, s: 1000, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }
  return Number(count) * (factors[unit] ?? assert.fail(`no unit: ${figure}`))
}

for (const [kind, heading] of [
  ['promise', 'What is promised'],
  ['threat', 'What the server defends against'],
] as const) {
  it(`every ${kind} in SECURITY.md has existing tests`, async () => {
    const page = await readFile(join(ROOT, 'SECURITY.md'), 'utf8')
    const section =
      page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? assert.fail(heading)
    const table = section.split('\n').filter((line) => line.startsWith('|'))
    assert.match(table[0]!, new RegExp(`^\\| ${kind} \\| (?:.+ \\| )?tests \\|$`))
    const rows = table.slice(2)
    assert.ok(rows.length > 10)
    for (const row of rows) {
      const [, name, tests] =
        /^\| (.+?) \|(?: .+ \|)? (`test\/.+) \|$/.exec(row) ?? assert.fail(`without tests: ${row}`)
      assertExists(name!, tests!)
    }
  })
}

function assertExists(row: string, tests: string): void {
  let folder = ''
  for (const [, name] of tests.matchAll(/`([^`]+)`/g)) {
    if (name!.startsWith('npm run ')) continue
    // A bare name is in the folder of the previous path.
    const path = name!.includes('/') ? name! : join(folder, name!)
    folder = dirname(path)
    assert.ok(existsSync(join(ROOT, path)), `${row}: ${path}`)
  }
}
