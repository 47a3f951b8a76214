/** A minimal Debian that has no Node, to run in what is to need none. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { isInstalled } from '../support/processes/caches.ts'

const run = promisify(execFile)

const DEBIAN = 'bookworm'

/** An account that the system has no name for. */
export const USER = '65532:65532'

interface Program {
  file: string
  words: string[]
}

export interface BareRoot {
  folder: string
  /** How a program of that system is run, as nobody in particular. `words`: the program and its words. */
  program(...words: string[]): Program
  /** The same as `user`, by numbers: `1000:1000`. */
  as(user: string, ...words: string[]): Program
  /** Runs it as root to its end. */
  asRoot(...words: string[]): Promise<{ stdout: string; stderr: string }>
  remove(): Promise<void>
}

/** Why there is none. In CI that is a failure. */
export async function whyNoBareRoot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'does not apply: only root makes root file systems'
  if (process.env.PINHOLE_CI || (await isInstalled('mmdebstrap', 'unshare'))) return false
  return 'mmdebstrap is not on this machine'
}

/** `to`: a folder, or a file in tar. */
function makeDebian(to: string): Promise<unknown> {
  return run('mmdebstrap', ['--variant=minbase', '--mode=root', '--quiet', DEBIAN, to])
}

/** It takes a minute of processor time, so a run of tests makes one, and removes it. Files that need it meanwhile wait. */
async function tarOfRun(runFolder: string): Promise<string> {
  const [tar, lock] = [join(runFolder, 'debian.tar'), join(runFolder, 'debian.lock')]
  while (!existsSync(tar)) {
    const isMine = await mkdir(lock).then(
      () => true,
      () => false,
    )
    if (!isMine) await sleep(500)
    else {
      try {
        await makeDebian(join(lock, 'debian.tar'))
        await rename(join(lock, 'debian.tar'), tar)
      } finally {
        await rm(lock, { recursive: true, force: true })
      }
    }
  }
  return tar
}

export async function makeBareRoot(): Promise<BareRoot> {
  const folder = await newFolder()
  const runFolder = process.env.PINHOLE_RUN
  if (runFolder === undefined) await makeDebian(folder)
  else await run('tar', ['-xf', await tarOfRun(runFolder), '-C', folder])
  const wordsOf = (user: string, words: string[]) => [
    ...['--mount', '--propagation', 'private'],
    ...[join(import.meta.dirname, 'in-root.sh'), folder, tmpdir(), user, ...words],
  ]
  return {
    folder,
    program: (...words) => ({ file: 'unshare', words: wordsOf(USER, words) }),
    as: (user, ...words) => ({ file: 'unshare', words: wordsOf(user, words) }),
    asRoot: (...words) => run('unshare', wordsOf('0:0', words)),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
