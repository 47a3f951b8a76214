/** Installs the Debian package with dpkg on a machine without systemd, and starts its server like the unit would. */
import assert from 'node:assert/strict'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnvFile } from '../../src/node/env-file.ts'
import { killGroup, launch } from '../support/processes/process.ts'
import { isReady } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import type { BareRoot } from './bare-root.ts'

/** Relative to the machine's root. */
export const SETTINGS = 'etc/pinhole/pinhole.env'

/** A start takes a second; this allows for a heavily loaded machine. */
const TIMEOUT_MS = 120_000

/** `file`: the package, on this machine. */
export async function installPackage(bare: BareRoot, file: string): Promise<void> {
  // Not in its /tmp, which may be shared with this machine.
  await cp(file, join(bare.folder, 'var/package.deb'))
  await bare.asRoot('/usr/bin/env', 'DEBIAN_FRONTEND=noninteractive', 'dpkg', '--install', '/var/package.deb')
}

export interface Unit {
  url: string
  stop(): Promise<void>
  /** Simulates a lost machine. */
  kill(): Promise<void>
}

/** Starts the unit's command, without systemd's sandbox around it. */
export async function startUnit(bare: BareRoot, port: number): Promise<Unit> {
  const unit = await readFile(join(bare.folder, 'usr/lib/systemd/system/pinhole.service'), 'utf8')
  const setting = (name: string) => new RegExp(`^${name}=-?(.*)$`, 'm').exec(unit)![1]!
  const { stdout } = await bare.asRoot('/usr/bin/id', '--user', setting('User'))
  const id = stdout.trim()
  const { file, words } = bare.as(`${id}:${id}`, setting('ExecStart'))
  // systemd reads the file as root, because the account can't.
  const settings = parseEnvFile(await readFile(join(bare.folder, SETTINGS), 'utf8'), SETTINGS)
  const server = launch(words, { ...Object.fromEntries(settings), PORT: `${port}` }, file)
  const url = `http://127.0.0.1:${port}`
  const answers = until('the server answers', () => isReady(url), TIMEOUT_MS)
  const fails = server.ended.then(({ stdout, stderr }) =>
    assert.fail(`the server exited:\n${stdout}${stderr}`),
  )
  await Promise.race([answers, fails])
  return {
    url,
    async stop() {
      server.child.kill('SIGTERM')
      assert.equal((await server.ended).code, 0)
    },
    async kill() {
      killGroup(server.pid)
      await server.ended
    },
  }
}
