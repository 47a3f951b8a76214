/** The Debian package on a machine without systemd: installed by dpkg, and its server started as the unit says. */
import assert from 'node:assert/strict'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnvFile } from '../../src/node/env-file.ts'
import { killGroup, launch } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import type { BareRoot } from './bare-root.ts'

/** In the machine's root. */
export const SETTINGS = 'etc/pinhole/pinhole.env'

/** A start takes a second; this is for a machine on which everything waits. */
const PATIENT_MS = 120_000

/** `file`: of the package, on this machine. */
export async function installPackage(bare: BareRoot, file: string): Promise<void> {
  // Not in its /tmp, which may be the one of this machine.
  await cp(file, join(bare.folder, 'var/package.deb'))
  await bare.asRoot('/usr/bin/env', 'DEBIAN_FRONTEND=noninteractive', 'dpkg', '--install', '/var/package.deb')
}

export interface Unit {
  url: string
  stop(): Promise<void>
  /** As a machine that is gone. */
  kill(): Promise<void>
}

/** As the unit starts it, less what systemd does around it. */
export async function startUnit(bare: BareRoot, port: number): Promise<Unit> {
  const unit = await readFile(join(bare.folder, 'usr/lib/systemd/system/pinhole.service'), 'utf8')
  const named = (name: string) => new RegExp(`^${name}=-?(.*)$`, 'm').exec(unit)![1]!
  const { stdout } = await bare.asRoot('/usr/bin/id', '--user', named('User'))
  const id = stdout.trim()
  const { file, words } = bare.as(`${id}:${id}`, named('ExecStart'))
  // systemd reads the file as root, and the account can't.
  const settings = parseEnvFile(await readFile(join(bare.folder, SETTINGS), 'utf8'), SETTINGS)
  const server = launch(words, { ...Object.fromEntries(settings), PORT: `${port}` }, file)
  const url = `http://127.0.0.1:${port}`
  const answers = until(
    'the server answers',
    () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    PATIENT_MS,
  )
  const fails = server.ended.then(({ stdout, stderr }) =>
    assert.fail(`the server ended:\n${stdout}${stderr}`),
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
