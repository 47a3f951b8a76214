/** `npm test`: every test file, several at a time, the long ones first, so that none runs alone at the end. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const ROOT = join(import.meta.dirname, '..')

/** More than there may be processors: many files wait for a disk, a browser or a clock. */
const FILES_AT_ONCE = 4

/** The longest, longest first. All others take less than any of these. */
const LONG = [
  'web/browser',
  'load',
  'durability',
  'cdn/outbox',
  'stores/filesystem',
  'http-cluster',
  'http-combinations',
  'http',
  'stores/postgres',
  'stores/s3-ceph',
  'stores/s3',
  'cli/package',
  'cli/upload',
  'cdn/caches',
  'client/compress',
  'client/browser',
  'stores/sqlite',
  'cluster',
].map((name) => `test/${name}.test.ts`)

const found = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
const missing = LONG.filter((file) => !found.includes(file))
if (missing.length > 0) throw new Error(`no such test file: ${missing.join(', ')}`)
const files = [...LONG, ...found.filter((file) => !LONG.includes(file))]

// Hundreds of processes load the same sources: each strips and compiles only what none did before.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

// Anything but a summary that says so is no success.
process.exitCode = 1
const events = run({
  files: files.map((file) => join(ROOT, file)),
  concurrency: FILES_AT_ONCE,
  cwd: ROOT,
  // Files come and go: collecting all of a heap that is still small is most of the collector's work.
  execArgv: ['--initial-old-space-size=512'],
})
events.on('test:summary', ({ file, success, counts }) => {
  if (file === undefined) process.exitCode = success && counts.tests > 0 ? 0 : 1
})
events.compose(spec).pipe(process.stdout)
