/** Runs files of the project in child processes, and leaves none behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The sources need Node 24. If the tests run on an older version, the project's own Node is used. */
export const NODE =
  Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : join(ROOT, 'node_modules/.bin/node')

export type Env = Record<string, string>

/** Node's compile cache, if enabled: a process that finds it starts in half the time. */
export const COMPILED: Env = process.env.NODE_COMPILE_CACHE
  ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  : {}

export interface Ran {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Process {
  child: ChildProcess
  pid: number
  output: { stdout: string; stderr: string }
  /** Resolves when the process has ended and all its output was read. */
  ended: Promise<Ran>
}

/** Process groups to kill when this process exits. */
const running = new Set<number>()
process.on('exit', () => {
  for (const pid of running) killGroup(pid)
})

/** Starts Node, or another program, with these arguments in the folder `cwd`. The environment is `environmentOf(env)`. */
export function launch(args: string[], env: Env = {}, program = NODE, cwd = ROOT): Process {
  const child = spawn(program, args, {
    cwd,
    env: environmentOf(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a new process group, so that workers can be killed together with their parent.
    detached: true,
  })
  const pid = child.pid
  if (pid === undefined) throw new Error(`${program} does not start`)
  running.add(pid)
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(pid)
      resolve({ code, signal, ...output })
    })
  })
  return { child, pid, output, ended }
}

/** The necessary variables of this process's environment, and `env`. */
export function environmentOf(env: Env = {}): Env {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    TMPDIR: tmpdir(),
    ...COMPILED,
    ...env,
  }
}

/** Runs a file to its end. */
export function run(args: string[], env: Env = {}, program = NODE): Promise<Ran> {
  return launch(args, env, program).ended
}

/** Whether `work` succeeds. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** The objects that a command printed, one per line. */
// biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary output
export function jsonLines(text: string): any[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

/** Sends SIGKILL to a process and its children. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
