/**
 * `npm test`: format, lint and types, then all test files, several concurrently.
 *
 *     npm test                    all but the long files, and fewer runs of random tests; in CI everything
 *     npm test -- PATTERN …       files with a PATTERN in their path, including long ones, without the checks
 *     npm run test:all            everything: long files and all runs of random tests
 *     npm run test:watch PATTERN  reruns on each change
 *
 * With PINHOLE_CI=1, skipping a test because the machine lacks something is a failure. PINHOLE_WHOLE=1 gives random tests all
 * their runs (test/support/extent.ts).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { forEachConcurrent } from '../src/async.ts'
import { readArguments } from './arguments.ts'
import { countLongFiles, isLong, pathFromRoot, ROOT, saveDurations, testFiles } from './test/files.ts'
import { type FileResult, LIMITS, runFile } from './test/run-file.ts'
import { resultLine, skippedCases, summaryOf } from './test/summary.ts'

/** More than there may be processors: many files wait for a disk, a browser or a timer. */
const CONCURRENT_FILES = 4

/** An in-memory file system, on Linux. */
const MEMORY = '/dev/shm'
/** Required free space: five times the peak of a run. Unit: bytes. */
const REQUIRED_BYTES = 2 ** 30

const { values, positionals: patterns } = readArguments('npm test -- [PATTERN…] [--all] [--watch]', {
  options: { all: { type: 'boolean', default: false }, watch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isPartial = patterns.length > 0
const inCi = process.env.PINHOLE_CI !== undefined
const isWhole = values.all || inCi
const files = testFiles({ isWhole, patterns })
const args = isWhole || isPartial ? [] : [`--import=${join(import.meta.dirname, 'test/untracked.ts')}`]

// All files of this run are below one folder. The guardian removes it, and ends its processes, when this process is gone.
const folder = mkdtempSync(
  join(isWhole || isPartial || !hasRoomInMemory() ? tmpdir() : MEMORY, 'pinhole-run-'),
)
chmodSync(folder, 0o711)
process.env.PINHOLE_RUN = folder
const guardian = spawn(process.execPath, [join(import.meta.dirname, 'test/guardian.ts'), folder], {
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
})
const interruption = new AbortController()
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    process.exitCode = code
    interruption.abort()
  })
}
// A killed npm forwards no signal.
const { ppid } = process
if (process.env.npm_lifecycle_event !== undefined) {
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGTERM'), 1000).unref()
}

// Hundreds of processes load the same sources: with a shared cache, each is stripped and compiled once.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')
if (isWhole) process.env.PINHOLE_WHOLE = '1'

if (await prepare()) {
  if (values.watch) watch()
  else await finish(await runAll())
} else await exit(process.exitCode ?? 1)

/** The daily run creates thousands of short-lived files. In CI they are on a disk. */
function hasRoomInMemory(): boolean {
  if (process.env.TMPDIR !== undefined) return false
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= REQUIRED_BYTES
  } catch {
    return false
  }
}

/** Builds the pages' assets, and runs the checks unless patterns select some files. */
async function prepare(): Promise<boolean> {
  const scripts = isPartial ? ['build'] : ['check', 'build']
  const codes = await Promise.all(
    scripts.map(async (script) => {
      const { signal } = interruption
      const child = spawn('npm', ['run', '--silent', script], { cwd: ROOT, stdio: 'inherit', signal })
      child.on('error', () => {})
      return (await once(child, 'close'))[0]
    }),
  )
  return codes.every((code) => code === 0)
}

async function runAll(): Promise<FileResult[]> {
  const results: FileResult[] = []
  const { signal } = interruption
  await forEachConcurrent([...files.entries()], CONCURRENT_FILES, async ([number, file]) => {
    if (signal.aborted) return
    const limits = isWhole || isLong(file) ? LIMITS.long : LIMITS.daily
    const result = await runFile(file, join(folder, `${number}`.padStart(4, '0')), { limits, signal, args })
    results.push(result)
    console.log(resultLine(result, results.length, files.length))
  })
  return results
}

async function finish(results: FileResult[]): Promise<void> {
  saveDurations(Object.fromEntries(results.map(({ file, ms }) => [pathFromRoot(file), Math.round(ms)])))
  const skips = skippedCases(results).size > 0
  const notes = [
    ...(isWhole || isPartial
      ? []
      : [
          `Only run in CI and by npm run test:all: ${countLongFiles()} long test files, and most runs of random tests.`,
        ]),
    ...(inCi && skips ? ['In CI a skipped test is a failure.'] : []),
    ...(interruption.signal.aborted
      ? [`The run was stopped after ${results.length} of ${files.length} files.`]
      : []),
  ]
  console.log(summaryOf(results, notes.length > 0 ? notes.join('\n') : null))
  const failed = results.some(({ failed }) => failed.length > 0)
  const anyPassed = results.some(({ passed }) => passed > 0)
  await exit(process.exitCode ?? (failed || !anyPassed || (inCi && skips) ? 1 : 0))
}

async function exit(code: number | string): Promise<never> {
  const gone = once(guardian, 'exit')
  guardian.stdin.end()
  await gone
  process.exit(Number(code))
}

/** Runs until interrupted. */
function watch(): void {
  run({ files, watch: true, cwd: ROOT, concurrency: CONCURRENT_FILES }).compose(spec).pipe(process.stdout)
  interruption.signal.addEventListener('abort', () => void exit(process.exitCode ?? 1))
}
