/** Runs the built command as a user or a script would. */

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import { folderOf } from '../support/folder.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { COMPILED, NODE, ROOT } from '../support/processes/process.ts'

const BIN = join(ROOT, 'bin/pinhole.mjs')

export interface RunResult {
  code: number | null
  /** Raw stdout. */
  bytes: Buffer
  /** stdout as text, and its lines. */
  stdout: string
  lines: string[]
  stderr: string
}

export interface Settings {
  /** `open`: stdin stays open, and the test writes to it. */
  stdin?: Uint8Array | 'open'
  env?: Record<string, string>
  /** Called with the process as soon as it has started. */
  onStart?: (child: ChildProcess) => void
}

export interface User {
  /** The working folder. */
  folder: string
  /** Folder of the command's history. */
  dataHome: string
  run(words: string[], settings?: Settings): Promise<RunResult>
  /** Runs on a terminal, where stdout and stderr are combined. `suffix`: appended to the shell command, e.g. `>links.txt`. */
  runOnTerminal(words: string[], suffix?: string, settings?: Settings): Promise<RunResult>
}

/** Reason to skip tests on a terminal, which need `script` from util-linux. */
export const noTerminal = await skipWithout('script')

/** A user with an empty folder and no history. Both are removed after the tests. */
export async function newUser(env: Record<string, string> = {}): Promise<User> {
  const folder = await folderOf({ after })
  const dataHome = join(folder, '.data')
  const base = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_DATA_HOME: dataHome,
    XDG_CONFIG_HOME: join(folder, '.config'),
    TERM: 'xterm',
    ...COMPILED,
    ...env,
  }
  const start = (program: string, words: string[], settings: Settings = {}) =>
    new Promise<RunResult>((resolve, reject) => {
      const child = spawn(program, words, { cwd: folder, env: { ...base, ...settings.env } })
      const written: Buffer[] = []
      let stderr = ''
      child.stdout.on('data', (part) => written.push(part))
      child.stderr.setEncoding('utf8').on('data', (part) => {
        stderr += part
      })
      child.stdin.on('error', () => {})
      if (settings.stdin !== 'open') child.stdin.end(settings.stdin ?? '')
      child.on('error', reject)
      child.on('close', (code) => {
        const bytes = Buffer.concat(written)
        const stdout = bytes.toString()
        resolve({ code, bytes, stdout, lines: stdout.split('\n').slice(0, -1), stderr })
      })
      settings.onStart?.(child)
    })
  return {
    folder,
    dataHome,
    run: (words, settings) => start(NODE, [BIN, ...words], settings),
    runOnTerminal(words, suffix = '', settings = {}) {
      const line = [NODE, BIN, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
      // Gives the command a terminal, and returns its exit code.
      return start('script', ['-qefc', `${line} ${suffix}`, '/dev/null'], settings)
    },
  }
}
