/** Runs one test file in its own process, within limits. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { SERVICES_FOLDER } from '../services-state.ts'
import { pathFromRoot, ROOT } from './files.ts'
import { killTree, processesOf, sweep } from './processes.ts'
import type { Message } from './reporter.ts'

/** Unit: milliseconds. */
export interface Limits {
  /** How long no test may start or finish while one is running. */
  silent: number
  /** How long a file may take in total. */
  file: number
  /** How long the process may stay alive after its tests: hooks that stop servers run then. */
  done: number
}

export const LIMITS: Record<'daily' | 'long', Limits> = {
  daily: { silent: 180_000, file: 600_000, done: 50_000 },
  long: { silent: 600_000, file: 2_700_000, done: 50_000 },
}

/** How long processes started by the file may outlive it. Unit: milliseconds. */
const GRACE_MS = 3000

const MAX_OUTPUT_CHARS = 20_000

export interface FileResult {
  file: string
  ms: number
  /** CPU time of its process and of those that it waited for. */
  seconds: number
  passed: number
  /** `at`: its location, with the names of its suites. */
  failed: { at: string; why: string }[]
  skipped: { at: string; reason: string }[]
  diagnostics: string[]
  /** Processes that it left running, and that were killed. */
  left: string[]
}

/**
 * `folder`: for the file's temporary files; created and removed here. `args`: for Node, before all others that load modules.
 * Never rejects because of what the file does.
 */
export async function runFile(
  file: string,
  folder: string,
  options: { limits: Limits; signal: AbortSignal; args?: string[]; env?: Record<string, string> },
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
    diagnostics: [],
    left: [],
  }
  mkdirSync(folder)
  // PostgreSQL refuses to run as root, so another user needs access.
  chmodSync(folder, 0o711)
  const child = spawn(
    process.execPath,
    [
      // Files allocate and release much: collecting a heap that is still small is most of the garbage collector's work.
      '--initial-old-space-size=512',
      ...(options.args ?? []),
      `--import=${join(import.meta.dirname, 'midnight.ts')}`,
      `--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`,
      '--test-reporter-destination=stdout',
      file,
    ],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        ...options.env,
        TMPDIR: folder,
        // For libvips (sharp): several files run at once, so more threads in each would only cost time.
        VIPS_CONCURRENCY: '1',
        // Must not be looked for below the file's TMPDIR.
        PINHOLE_SERVICES: SERVICES_FOLDER,
        // Our reporter must write even if this process itself runs under a test runner.
        NODE_TEST_CONTEXT: undefined,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // Ctrl-C in a terminal is for the run, which stops all of them.
      detached: true,
    },
  )
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT_CHARS)
    })
  }

  const suites: string[] = []
  /** Names of the tests and suites that are running. */
  const running: string[] = []
  let events = 0
  let lastEvent = performance.now()
  let summary = false
  /** Tests and suites declared but not ended. */
  let pending = 0
  const handle = (message: Message) => {
    if (message.is === 'used') {
      result.seconds = message.seconds
      return
    }
    events++
    lastEvent = performance.now()
    if (message.is === 'diagnostic') return void result.diagnostics.push(message.text)
    if (message.is === 'declared') {
      pending++
      return
    }
    if (message.is === 'summary') {
      summary = true
      return
    }
    if (message.is === 'reported') {
      suites.length = Math.min(suites.length, message.depth)
      suites[message.depth] = message.name
      return
    }
    if (message.is === 'started') {
      running.push(message.name)
      return
    }
    if (message.is === 'ended') {
      pending--
      if (running.includes(message.name)) running.splice(running.lastIndexOf(message.name), 1)
      return
    }
    const at = [pathFromRoot(file), ...suites.slice(0, message.depth), message.name].join(': ')
    if (message.is === 'passed') result.passed += message.suite ? 0 : 1
    else if (message.is === 'skipped') result.skipped.push({ at, reason: message.reason ?? '' })
    else if (message.is === 'failed' && message.why !== null) result.failed.push({ at, why: message.why })
  }
  const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })
  lines.on('line', (line) => handle(JSON.parse(line) as Message))
  const read = new Promise((resolve) => lines.once('close', resolve))

  let stopped: string | null = null
  const stop = (why: string) => {
    stopped ??= why
    killTree(child.pid!)
  }
  const abort = () => stop('the run was stopped')
  options.signal.addEventListener('abort', abort)
  const watch = setInterval(() => {
    const now = performance.now()
    const names = running.join(': ')
    if (now - started > limits.file) stop(`it took more than ${limits.file / 1000} s, last running: ${names}`)
    else if (events > 0 && running.length === 0 && now - lastEvent > limits.done)
      stop('its tests were over, but something kept its process: a socket, a timer or a child')
    else if (now - lastEvent > limits.silent)
      stop(`nothing happened for ${limits.silent / 1000} s in: ${names}`)
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
    result.failed.push({ at: pathFromRoot(file), why: output === '' ? why : `${why}\n${output}` })
  }
  result.left = await leftoversOf(folder)
  await sweep(folder)
  result.ms = performance.now() - started
  return result
}

/** Commands of the processes that are still running in `folder` when the grace period ends. */
async function leftoversOf(folder: string): Promise<string[]> {
  const deadline = Date.now() + GRACE_MS
  for (;;) {
    const left = processesOf(folder)
    if (left.length === 0 || Date.now() > deadline) return left.map(({ command }) => command.slice(0, 160))
    await sleep(50)
  }
}
