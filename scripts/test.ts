/**
 * `npm test`: format, lint and types, then every test file, several at a time.
 *
 *     npm test                    all but the long ones, and random tests with fewer runs; in CI everything
 *     npm test -- PATTERN         files with PATTERN in their path, long ones too, without the checks
 *     npm run test:all            everything: the long ones too, and every run
 *     npm run test:watch PATTERN  again at each change
 *
 * With PINHOLE_CI=1 a test that is skipped because the machine lacks something is a failure. PINHOLE_WHOLE=1 gives random
 * tests all their runs (test/support/extent.ts).
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { countLongFiles, keepDurations, named, ROOT, testFiles } from './test/files.ts'

/** More than there may be processors: many files wait for a disk, a browser or a clock. */
const FILES_AT_ONCE = 5

/** How a reason begins where a case says nothing about the host or adapter that it runs on. */
const NOT_APPLICABLE = 'does not apply: '

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false }, watch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [pattern] = positionals
const inCi = process.env.PINHOLE_CI !== undefined
const isWhole = values.all || inCi
const files = testFiles({
  isWhole,
  ...(pattern === undefined ? {} : { pattern }),
})

if (pattern === undefined) await checkAndBuild()
else execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })

// Hundreds of processes load the same sources: each strips and compiles only what none did before.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

if (isWhole) process.env.PINHOLE_WHOLE = '1'

// Anything but a summary that says so is no success.
process.exitCode = 1
const taken: Record<string, number> = {}
const skipped: string[] = []
const events = run({
  files,
  concurrency: FILES_AT_ONCE,
  watch: values.watch,
  cwd: ROOT,
  // Files come and go: collecting all of a heap that is still small is most of the collector's work.
  execArgv: ['--initial-old-space-size=512'],
})
events.on('test:pass', ({ file, name, skip }) => {
  if (skip === undefined || `${skip}`.startsWith(NOT_APPLICABLE)) return
  skipped.push(
    `${file === undefined ? '' : `${named(file)}: `}${name}: ${skip === true ? 'no reason' : skip}`,
  )
})
events.on('test:summary', ({ file, success, counts, duration_ms }) => {
  if (file !== undefined) taken[named(file)] = Math.round(duration_ms)
  else process.exitCode = success && counts.tests > 0 ? 0 : 1
})
const report = events.compose(spec)
report.on('end', () => {
  keepDurations(taken)
  if (!isWhole && pattern === undefined) {
    process.stdout.write(
      `\nLeft to CI and npm run test:all: ${countLongFiles()} long test files, and most runs of random tests.\n`,
    )
  }
  if (skipped.length === 0) return
  process.stdout.write(`\nSkipped, because this machine lacks something:\n  ${skipped.join('\n  ')}\n`)
  if (inCi) {
    process.stdout.write('In CI a skipped test is a failure.\n')
    process.exitCode = 1
  }
})
report.pipe(process.stdout)

async function checkAndBuild(): Promise<void> {
  const check = spawn('npm', ['run', '--silent', 'check'], { cwd: ROOT, stdio: 'inherit' })
  const checked = once(check, 'exit')
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })
  if ((await checked)[0] !== 0) process.exit(1)
}
