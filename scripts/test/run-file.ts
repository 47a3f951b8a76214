/** One test file in a process of its own, within limits. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { SERVICES_FOLDER } from '../services-state.ts'
import { named, ROOT } from './files.ts'
import { killTree, processesOf, sweep } from './processes.ts'
import type { Sent } from './reporter.ts'

/** Unit: milliseconds. */
export interface Limits {
  /** How long nothing may end or begin while a test runs. */
  silent: number
  /** How long a file may take. */
  file: number
  /** How long a process may stay when its tests are over: hooks that stop servers run then. */
  done: number
}

export const LIMITS: Record<'daily' | 'long', Limits> = {
  daily: { silent: 180_000, file: 600_000, done: 50_000 },
  long: { silent: 600_000, file: 2_700_000, done: 50_000 },
}

/** How long what it started may take to go after it. Unit: milliseconds. */
const LEFT_MS = 3000

const KEPT_OUTPUT = 20_000

export interface FileResult {
  file: string
  ms: number
  /** Processor time of its process and of those that it waited for. */
  seconds: number
  passed: number
  /** `at`: where it is, with the names of its suites. */
  failed: { at: string; why: string }[]
  skipped: { at: string; reason: string }[]
  said: string[]
  /** Processes that it left running. They are ended. */
  left: string[]
}

/**
 * `folder`: for its temporary files; made here, and removed. `words`: for Node, before the file. Never rejects for what the
 * file does.
 */
export async function runFile(
  file: string,
  folder: string,
  options: { limits: Limits; signal: AbortSignal; words?: string[]; env?: Record<string, string> },
): Promise<FileResult> {
  const started = performance.now()
  const { limits } = options
  const result: FileResult = {
    file,
    ms: 0,
    seconds: 0,
    passed: 0,
    failed: [],
    skipped: [],
    said: [],
    left: [],
  }
  mkdirSync(folder)
  // PostgreSQL refuses to run as root: another user goes through.
  chmodSync(folder, 0o711)
  const child = spawn(
    process.execPath,
    [
      // Files come and go: collecting all of a heap that is still small is most of the collector's work.
      '--initial-old-space-size=512',
      `--import=${join(import.meta.dirname, 'midnight.ts')}`,
      `--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`,
      '--test-reporter-destination=stdout',
      ...(options.words ?? []),
      file,
    ],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        ...options.env,
        TMPDIR: folder,
        // It would be looked for below TMPDIR.
        PINHOLE_SERVICES: SERVICES_FOLDER,
        // Its own reporter writes, whatever runs this process.
        NODE_TEST_CONTEXT: undefined,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // Ctrl-C in a terminal is for the run, which ends all of them.
      detached: true,
    },
  )
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT)
    })
  }

  const suites: string[] = []
  const open = new Map<string, number>()
  let events = 0
  let running = 0
  let lastEvent = performance.now()
  let summary = false
  /** Tests and suites that were declared, less those that ended. */
  let pending = 0
  const take = (sent: Sent) => {
    if (sent.is === 'used') {
      result.seconds = sent.seconds
      return
    }
    events++
    lastEvent = performance.now()
    if (sent.is === 'said') return void result.said.push(sent.text)
    if (sent.is === 'declared') {
      pending++
      return
    }
    if (sent.is === 'summary') {
      summary = true
      return
    }
    if (sent.is === 'reported') {
      suites.length = Math.min(suites.length, sent.depth)
      suites[sent.depth] = sent.name
      return
    }
    const key = `${sent.depth} ${sent.name}`
    if (sent.is === 'started') {
      running++
      open.set(key, (open.get(key) ?? 0) + 1)
      return
    }
    if (sent.is === 'ended') {
      running--
      pending--
      open.set(key, (open.get(key) ?? 1) - 1)
      return
    }
    const at = [named(file), ...suites.slice(0, sent.depth), sent.name].join(': ')
    if (sent.is === 'passed') result.passed += sent.suite ? 0 : 1
    else if (sent.is === 'skipped') result.skipped.push({ at, reason: sent.reason ?? '' })
    else if (sent.is === 'failed' && sent.why !== null) result.failed.push({ at, why: sent.why })
  }
  const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })
  lines.on('line', (line) => take(JSON.parse(line) as Sent))
  const read = new Promise((resolve) => lines.once('close', resolve))

  let stopped: string | null = null
  const stop = (why: string) => {
    stopped ??= why
    killTree(child.pid!)
  }
  const abort = () => stop('the run was ended')
  options.signal.addEventListener('abort', abort)
  const watch = setInterval(() => {
    const now = performance.now()
    const names = [...open].filter(([, count]) => count > 0).map(([key]) => key.replace(/^\d+ /, ''))
    if (now - started > limits.file)
      stop(`it took more than ${limits.file / 1000} s, at last: ${names.join(': ')}`)
    else if (events > 0 && running === 0 && now - lastEvent > limits.done)
      stop('its tests were over, but something kept its process: a socket, a timer or a child')
    else if (now - lastEvent > limits.silent)
      stop(`nothing happened for ${limits.silent / 1000} s in: ${names.join(': ')}`)
  }, 1000)

  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('error', (error) => {
      output += error
      resolve([null, null])
    })
    child.once('exit', (...how) => resolve(how))
  })
  clearInterval(watch)
  options.signal.removeEventListener('abort', abort)
  await Promise.race([read, sleep(2000, null, { ref: false })])
  if (
    stopped !== null ||
    !(summary || (events > 0 && pending === 0)) ||
    (code !== 0 && result.failed.length === 0)
  ) {
    const why = stopped ?? `its process ended with ${signal ?? code} before its tests did`
    result.failed.push({ at: named(file), why: output === '' ? why : `${why}\n${output}` })
  }
  result.left = await leftBy(folder)
  await sweep(folder)
  result.ms = performance.now() - started
  return result
}

/** What still runs after a moment. */
async function leftBy(folder: string): Promise<string[]> {
  const deadline = Date.now() + LEFT_MS
  for (;;) {
    const left = processesOf(folder)
    if (left.length === 0 || Date.now() > deadline) return left.map(({ command }) => command.slice(0, 160))
    await sleep(50)
  }
}
