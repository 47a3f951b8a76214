/**
 * `npm test`: format, lint and types, then every test file, several at a time.
 *
 *     npm test                    all but the long ones, and random tests with fewer runs; in CI everything
 *     npm test -- PATTERN …       files with a PATTERN in their path, long ones too, without the checks
 *     npm run test:all            everything: the long ones too, and every run
 *     npm run test:watch PATTERN  again at each change
 *
 * With PINHOLE_CI=1 a test that is skipped because the machine lacks something is a failure. PINHOLE_WHOLE=1 gives random
 * tests all their runs (test/support/extent.ts).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { countLongFiles, isLong, keepDurations, named, ROOT, testFiles } from './test/files.ts'
import { type FileResult, LIMITS, runFile } from './test/run-file.ts'
import { endOf, lacking, lineOf } from './test/summary.ts'
import { readWords } from './words.ts'

/** More than there may be processors: many files wait for a disk, a browser or a clock. */
const FILES_AT_ONCE = 4

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'
/** Five times what a run took at most. Unit: bytes. */
const ROOM = 2 ** 30

const { values, positionals: patterns } = readWords('npm test -- [PATTERN…] [--all] [--watch]', {
  options: { all: { type: 'boolean', default: false }, watch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isPart = patterns.length > 0
const inCi = process.env.PINHOLE_CI !== undefined
const isWhole = values.all || inCi
const files = testFiles({ isWhole, patterns })

// Everything of this run is below one folder. When this process is gone, so are they, and it.
const folder = mkdtempSync(join(isWhole || isPart || !hasRoomInMemory() ? tmpdir() : MEMORY, 'pinhole-run-'))
chmodSync(folder, 0o711)
process.env.PINHOLE_RUN = folder
const guardian = spawn(process.execPath, [join(import.meta.dirname, 'test/guardian.ts'), folder], {
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
})
const ending = new AbortController()
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    process.exitCode = code
    ending.abort()
  })
}
// npm that is killed tells nobody.
const { ppid } = process
if (process.env.npm_lifecycle_event !== undefined) {
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGTERM'), 1000).unref()
}

// Hundreds of processes load the same sources: each strips and compiles only what none did before.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')
if (isWhole) process.env.PINHOLE_WHOLE = '1'

if (await prepare()) {
  if (values.watch) watch()
  else await finish(await runAll())
} else await leave(process.exitCode ?? 1)

/** The daily run makes thousands of short-lived files. In CI they are on a disk. */
function hasRoomInMemory(): boolean {
  if (process.env.TMPDIR !== undefined) return false
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM
  } catch {
    return false
  }
}

/** Checks, unless a pattern names a part, and what the pages load. */
async function prepare(): Promise<boolean> {
  const scripts = isPart ? ['build'] : ['check', 'build']
  const codes = await Promise.all(
    scripts.map(async (script) => {
      const { signal } = ending
      const child = spawn('npm', ['run', '--silent', script], { cwd: ROOT, stdio: 'inherit', signal })
      child.on('error', () => {})
      return (await once(child, 'close'))[0]
    }),
  )
  return codes.every((code) => code === 0)
}

async function runAll(): Promise<FileResult[]> {
  const queue = [...files.entries()]
  const results: FileResult[] = []
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (ending.signal.aborted) return
      const [number, file] = next
      const limits = isWhole || isLong(file) ? LIMITS.long : LIMITS.daily
      const ownFolder = join(folder, `${number}`.padStart(4, '0'))
      const result = await runFile(file, ownFolder, { limits, signal: ending.signal })
      results.push(result)
      console.log(lineOf(result, results.length, files.length))
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker))
  return results
}

async function finish(results: FileResult[]): Promise<void> {
  keepDurations(Object.fromEntries(results.map(({ file, ms }) => [named(file), Math.round(ms)])))
  const skips = lacking(results).size > 0
  const notes = [
    ...(isWhole || isPart
      ? []
      : [
          `Left to CI and npm run test:all: ${countLongFiles()} long test files, and most runs of random tests.`,
        ]),
    ...(inCi && skips ? ['In CI a skipped test is a failure.'] : []),
    ...(ending.signal.aborted ? [`The run was ended after ${results.length} of ${files.length} files.`] : []),
  ]
  console.log(endOf(results, notes.length > 0 ? notes.join('\n') : null))
  const failed = results.some(({ failed }) => failed.length > 0)
  const some = results.some(({ passed }) => passed > 0)
  await leave(process.exitCode ?? (failed || !some || (inCi && skips) ? 1 : 0))
}

async function leave(code: number | string): Promise<never> {
  const gone = once(guardian, 'exit')
  guardian.stdin.end()
  await gone
  process.exit(Number(code))
}

/** Until somebody ends it. */
function watch(): void {
  run({ files, watch: true, cwd: ROOT, concurrency: FILES_AT_ONCE }).compose(spec).pipe(process.stdout)
  ending.signal.addEventListener('abort', () => void leave(process.exitCode ?? 1))
}
