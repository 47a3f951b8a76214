/** Runs files of the project as processes of their own, and leaves none behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The source runs as it is from Node 24 on; an older one has the project's own beside it. */
export const NODE =
  Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : join(ROOT, 'node_modules/.bin/node')

export type Env = Record<string, string>

/** Where Node keeps what it compiled, if anywhere: a process that finds it there starts in half the time. */
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
  /** Settles when the process is gone and its output is read. */
  ended: Promise<Ran>
}

/** Groups that still run when the tests end, whatever ended them. */
const running = new Set<number>()
process.on('exit', () => {
  for (const pid of running) killGroup(pid)
})

/** Starts Node, or another program, with these words, in the root of the repository, and an environment of nothing but `env`. */
export function launch(words: string[], env: Env = {}, program = NODE): Process {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: environmentOf(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that workers can be killed with their parent.
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

/** What a process needs of this one's environment, and what it is given. */
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
export function run(words: string[], env: Env = {}, program = NODE): Promise<Ran> {
  return launch(words, env, program).ended
}

/** `kill -9` of a process and its children. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
