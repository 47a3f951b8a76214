/**
 * The contracts, by a run on every host and adapter, or on some:
 *
 *     npm run contract                               all; fails if a case fails that the saved outcomes do not name
 *     npm run contract -- --runtime bun              the HTTP contract and the loop of kills, on Bun or Deno
 *     npm run contract -- --only R2 --save           keeps what came of it, and writes the tables of the README
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildAssets } from '../src/node/assets/build.ts'
import { type Outcomes, SAVED, SUITES, type Suite, tableOf } from './contracts.ts'
import { ROOT } from './test/files.ts'
import { LIMITS, runFile } from './test/run-file.ts'
import { readWords } from './words.ts'

const { values } = readWords('npm run contract -- [--runtime bun|deno [--rounds N] | --only NAME] [--save]', {
  options: {
    runtime: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '50' },
    save: { type: 'boolean', default: false },
  },
})
const suites = Object.values(SUITES)
  .flat()
  .filter(({ name, runtime }) =>
    values.runtime === undefined ? name.startsWith(values.only) : runtime === values.runtime,
  )
if (suites.length === 0) {
  console.error('no such host: --runtime bun or deno, or --only with the beginning of a name')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'pinhole-contract-'))
// PostgreSQL refuses to run as root: another user goes through.
chmodSync(folder, 0o711)
let failures = 0
try {
  await buildAssets()
  for (const [nth, suite] of suites.entries()) failures += await runSuite(suite, join(folder, `${nth}`))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.runtime !== undefined) failures += killLoop(values.runtime)
if (values.save) writeTables()
process.exitCode = failures === 0 ? 0 : 1

/** Into the README. */
function writeTables(): void {
  const file = join(ROOT, 'README.md')
  const [before, after] = readFileSync(file, 'utf8').split(
    /(?<=<!-- contracts -->\n)[\s\S]*(?=\n<!-- \/contracts -->)/,
  )
  writeFileSync(file, `${before}${tableOf(readSaved())}${after}`)
}

function readSaved(): Outcomes {
  return JSON.parse(readFileSync(SAVED, 'utf8'))
}

/** Returns how many cases fail that should not. */
async function runSuite({ name, file, pattern, runtime }: Suite, ownFolder: string): Promise<number> {
  const { passed, failed, skipped } = await runFile(file, ownFolder, {
    limits: LIMITS.long,
    signal: new AbortController().signal,
    words: [`--test-name-pattern=^${pattern}`],
    ...(runtime !== undefined && { env: { PINHOLE_RUNTIME: runtime } }),
  })
  const saved = readSaved()
  const known = values.save ? [] : (saved[name]?.failing ?? [])
  const unknown = failed.filter(({ at }) => !known.includes(caseOf(at)))
  console.log(`${name}: ${passed} passed, ${failed.length} failed, ${skipped.length} do not apply`)
  for (const { at, why } of unknown) console.log(`✖ ${at}\n${why.slice(0, 2000)}`)
  if (!values.save) return unknown.length
  // A service that is not there says nothing of the adapter: its row stays.
  if (passed + failed.length === 0) return 1
  saved[name] = {
    passed,
    notApplicable: counted(skipped),
    failing: failed.map(({ at }) => caseOf(at)).sort(),
  }
  writeFileSync(SAVED, `${JSON.stringify(saved, null, 2)}\n`)
  return 0
}

/** Without the file, the suite and its part. */
function caseOf(at: string): string {
  return at.split(': ').slice(4).join(': ') || at
}

function counted(skipped: { reason: string }[]): Record<string, number> {
  const reasons = Map.groupBy(skipped, ({ reason }) => reason.replace(/^does not apply: /, ''))
  return Object.fromEntries([...reasons].map(([reason, cases]) => [reason, cases.length]))
}

/** A server that is killed again and again holds what it acknowledged. */
function killLoop(runtime: string): number {
  const env = { ...process.env, PINHOLE_RUNTIME: runtime }
  const words = ['scripts/crash-loop.ts', values.rounds]
  return spawnSync(process.execPath, words, { stdio: 'inherit', env }).status === 0 ? 0 : 1
}
