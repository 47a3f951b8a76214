/**
 * `npm test`: format, lint and types, then every test file, several at a time, the long ones first, so that none runs
 * alone at the end.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..')

/** More than there may be processors: many files wait for a disk, a browser or a clock. */
const FILES_AT_ONCE = 5

/** The longest, and those that wait most, first. All others take less than any of these. */
const LONG = [
  'web/browser',
  'load',
  'durability',
  'cdn/outbox',
  'stores/s3/removal',
  'stores/s3/get-faults',
  'slow-store',
  'stores/filesystem',
  'http-cluster',
  'http-combinations',
  'http',
  'stores/postgres',
  'stores/s3/ceph',
  'stores/s3/store',
  'cli/package',
  'cli/upload',
  'cdn/caches',
  'client/compress/compress',
  'client/browser',
  'stores/sqlite',
  'cluster',
].map((name) => `test/${name}.test.ts`)

/** Starting a process for each of these takes longer than what they do: they share one. None has hooks of its own. */
const SHORT = [
  'client/compress/{chroma,engine,jpeg-quality,plan,profiles,sample}',
  'client/api/{hostile,remove,send,stall}',
  'formats/avif/{avif,exiftool,refusals,scrub,sequence}',
  'formats/{displayed,exif,inconsistent,inspect}',
  'stores/s3/url',
  'web/{markup,queue,words}',
  '{deploy,layers,no-codec}',
].map((name) => `test/${name}.test.ts`)

const found = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
const short = globSync(SHORT, { cwd: ROOT }).sort()
const missing = [...LONG, ...short].filter((file) => !found.includes(file))
if (missing.length > 0) throw new Error(`no such test file: ${missing.join(', ')}`)
const rest = found.filter((file) => !LONG.includes(file) && !short.includes(file))
const files = [...LONG.map(inRoot), sharing(short), ...rest.map(inRoot)]

function inRoot(file: string): string {
  return join(ROOT, file)
}

/** A file that runs the tests of all `files`. */
function sharing(files: string[]): string {
  const folder = inRoot('node_modules/.cache/tests')
  mkdirSync(folder, { recursive: true })
  const together = join(folder, 'short.test.mjs')
  writeFileSync(
    together,
    files.map((file) => `await import(${JSON.stringify(pathToFileURL(inRoot(file)).href)})\n`).join(''),
  )
  return together
}

const check = spawn('npm', ['run', '--silent', 'check'], { cwd: ROOT, stdio: 'inherit' })
const checked = once(check, 'exit')
execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' })
if ((await checked)[0] !== 0) process.exit(1)

// Hundreds of processes load the same sources: each strips and compiles only what none did before.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

// Anything but a summary that says so is no success.
process.exitCode = 1
const events = run({
  files,
  concurrency: FILES_AT_ONCE,
  cwd: ROOT,
  // Files come and go: collecting all of a heap that is still small is most of the collector's work.
  execArgv: ['--initial-old-space-size=512'],
})
events.on('test:summary', ({ file, success, counts }) => {
  if (file === undefined) process.exitCode = success && counts.tests > 0 ? 0 : 1
})
events.compose(spec).pipe(process.stdout)
