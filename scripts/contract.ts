/**
 * Runs the contract suites on all hosts and adapters, or on some:
 *
 *     npm run contract                               all; fails if a case fails that the saved outcomes don't list
 *     npm run contract -- --runtime bun              the HTTP contract and the kill drill, on Bun or Deno
 *     npm run contract -- --only R2 --save           saves the outcomes, and writes the tables of the README
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildAssets } from '../src/node/assets/build.ts'
import { readArguments } from './arguments.ts'
import { type Outcomes, SAVED, SUITES, type Suite, tableOf } from './contracts.ts'
import { ROOT } from './test/files.ts'
import { LIMITS, runFile } from './test/run-file.ts'

const { values } = readArguments(
  'npm run contract -- [--runtime bun|deno [--rounds N] | --only NAME] [--save]',
  {
    options: {
      runtime: { type: 'string' },
      only: { type: 'string', default: '' },
      rounds: { type: 'string', default: '5' },
      save: { type: 'boolean', default: false },
    },
  },
)
const suites = Object.values(SUITES)
  .flat()
  .filter(({ name, runtime }) =>
    values.runtime === undefined ? name.startsWith(values.only) : runtime === values.runtime,
  )
if (suites.length === 0) {
  console.error('no such host: use --runtime bun, --runtime deno, or --only with the beginning of a name')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'pinhole-contract-'))
// PostgreSQL refuses to run as root, so another user needs access.
chmodSync(folder, 0o711)
let failures = 0
try {
  await buildAssets()
  for (const [index, suite] of suites.entries()) failures += await runSuite(suite, join(folder, `${index}`))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.runtime !== undefined) failures += killLoop(values.runtime)
if (values.save) writeTables()
process.exitCode = failures === 0 ? 0 : 1

/** Writes the tables into the README. */
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

/** Returns the number of unexpected failures. */
async function runSuite({ name, file, pattern, runtime }: Suite, ownFolder: string): Promise<number> {
  const { passed, failed, skipped } = await runFile(file, ownFolder, {
    limits: LIMITS.long,
    signal: new AbortController().signal,
    args: [`--test-name-pattern=^${pattern}`],
    ...(runtime !== undefined && { env: { PINHOLE_RUNTIME: runtime } }),
  })
  const saved = readSaved()
  const known = values.save ? [] : (saved[name]?.failing ?? [])
  const unknown = failed.filter(({ at }) => !known.includes(caseOf(at)))
  console.log(`${name}: ${passed} passed, ${failed.length} failed, ${skipped.length} do not apply`)
  for (const { at, why } of unknown) console.log(`✖ ${at}\n${why.slice(0, 2000)}`)
  if (!values.save) return unknown.length
  // An unavailable service says nothing about the adapter: keep its row.
  if (passed + failed.length === 0) return 1
  saved[name] = {
    passed,
    notApplicable: countByReason(skipped),
    failing: failed.map(({ at }) => caseOf(at)).sort(),
  }
  writeFileSync(SAVED, `${JSON.stringify(saved, null, 2)}\n`)
  return 0
}

/** A case's name without its file, suite and section. */
function caseOf(at: string): string {
  return at.split(': ').slice(4).join(': ') || at
}

function countByReason(skipped: { reason: string }[]): Record<string, number> {
  const reasons = Map.groupBy(skipped, ({ reason }) => reason.replace(/^does not apply: /, ''))
  return Object.fromEntries([...reasons].map(([reason, cases]) => [reason, cases.length]))
}

/** Kills a server repeatedly, and checks that it keeps everything acknowledged. */
function killLoop(runtime: string): number {
  const env = { ...process.env, PINHOLE_RUNTIME: runtime }
  const args = ['scripts/drill.ts', values.rounds, 'kill']
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0 ? 0 : 1
}
