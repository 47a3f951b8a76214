/** A minimal Debian without Node, to run programs that must not need it. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { succeeds } from '../support/processes/process.ts'

const run = promisify(execFile)

const DEBIAN = 'bookworm'

/** An account without a name. */
export const USER = '65532:65532'

interface Program {
  file: string
  words: string[]
}

export interface BareRoot {
  folder: string
  /** The command that runs a program in that system as an unprivileged user. `words`: the program and its arguments. */
  program(...words: string[]): Program
  /** The same as another user, by numeric IDs: `1000:1000`. */
  as(user: string, ...words: string[]): Program
  /** Runs a program as root to completion. */
  asRoot(...words: string[]): Promise<{ stdout: string; stderr: string }>
  remove(): Promise<void>
}

/** The reason why none can be created. In CI that is a failure. */
export async function whyNoBareRoot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'does not apply: only root can create root file systems'
  return skipWithout(['mmdebstrap', 'unshare'])
}

/** `to`: a folder or a tar file. */
function makeDebian(to: string): Promise<unknown> {
  return run('mmdebstrap', ['--variant=minbase', '--mode=root', '--quiet', DEBIAN, to])
}

/** Takes a minute of CPU time, so each test run creates one archive, shared by its files under a lock. */
async function tarOfRun(runFolder: string): Promise<string> {
  const [tar, lock] = [join(runFolder, 'debian.tar'), join(runFolder, 'debian.lock')]
  while (!existsSync(tar)) {
    if (!(await succeeds(mkdir(lock)))) await sleep(500)
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
