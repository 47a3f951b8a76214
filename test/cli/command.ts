/** Runs the built command as a person or a script does. */

import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { COMPILED, NODE, ROOT } from '../support/processes/process.ts'

const BIN = join(ROOT, 'bin/pinhole.mjs')

export interface Ran {
  code: number | null
  /** What it wrote to stdout. */
  bytes: Buffer
  /** The same as text, and its lines. */
  stdout: string
  lines: string[]
  stderr: string
}

export interface Settings {
  /** `open`: nothing comes, and no end; the test writes to the process itself. */
  stdin?: Uint8Array | 'open'
  env?: Record<string, string>
  /** Called with the process as soon as it runs. */
  onStart?: (child: ChildProcess) => void
}

export interface Person {
  /** The working folder. */
  folder: string
  /** Where the command keeps its history. */
  dataHome: string
  run(words: string[], settings?: Settings): Promise<Ran>
  /** On a terminal, where both streams are one; `then` follows the command in the shell, e.g. `>links.txt`. */
  runOnTerminal(words: string[], then?: string, settings?: Settings): Promise<Ran>
}

/** Why tests on a terminal are skipped: it is made by `script`, of util-linux. */
export const noTerminal = await skipWithout('script')

/** Somebody with an empty folder and no history, both gone after the tests. */
export async function person(env: Record<string, string> = {}): Promise<Person> {
  const folder = await newFolder()
  after(() => rm(folder, { recursive: true, force: true }))
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
    new Promise<Ran>((resolve, reject) => {
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
    runOnTerminal(words, then = '', settings = {}) {
      const line = [NODE, BIN, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
      // From util-linux: gives the command a terminal of its own, and hands its exit code on.
      return start('script', ['-qefc', `${line} ${then}`, '/dev/null'], settings)
    },
  }
}
