/** The server's package, installed with Node, npm and the tarball only, without a registry. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { manifest, tarballOf } from '../../build/packages/paths.ts'
import { NPM_ENV } from '../support/processes/node-of.ts'
import { type Env, launch, NODE } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { type Installed, NAMES, run } from './installed.ts'

const MAX_KILOBYTES = 12_000
const START_MS = 120_000

/** `server`: its folder contains the tarball. */
export function serverPackage(server: Installed): void {
  describe('the server’s package', () => {
    const home = join(server.folder, 'offline')
    const { version } = manifest
    const env: Env = {
      ...NPM_ENV,
      npm_config_offline: 'true',
      npm_config_cache: join(home, '.cache'),
      // npm runs the first node in PATH.
      PATH: `${join(NODE, '..')}:${process.env.PATH}`,
    }
    const tarball = join(server.folder, tarballOf(NAMES.server))
    const command = (name: string) => join(home, 'node_modules/.bin', name)
    const runToEnd = (name: string, ...args: string[]) =>
      run(command(name), args, { cwd: home, env, timeout: START_MS }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      )

    test('npm installs it from the tarball alone, with at most 12 MB and no install scripts', async () => {
      const args = ['install', '--no-audit', '--no-fund', '--prefix', home, tarball]
      await run('npm', args, { cwd: server.folder, env })
      const { stdout } = await run('du', ['-sk', 'node_modules'], { cwd: home })
      assert.ok(Number.parseInt(stdout, 10) <= MAX_KILOBYTES, stdout)
      const lock = JSON.parse(await readFile(join(home, 'node_modules/.package-lock.json'), 'utf8'))
      for (const [path, one] of Object.entries<{ hasInstallScript?: boolean }>(lock.packages))
        assert.equal(one.hasInstallScript, undefined, path)
    })

    test('npx runs it from the tarball', async () => {
      const args = ['--yes', '--package', tarball, NAMES.server, '--version']
      const { stdout } = await run('npx', args, { cwd: server.folder, env })
      assert.equal(stdout.trim(), version)
    })

    test('each command prints its version and its usage', async () => {
      for (const name of [NAMES.server, 'pinhole-operator']) {
        assert.deepEqual(await runToEnd(name, '--version'), { code: 0, stdout: `${version}\n`, stderr: '' })
        const { code, stdout } = await runToEnd(name, '--help')
        assert.equal(code, 0)
        assert.match(stdout, new RegExp(`^Usage: ${name} \\[`, 'm'))
        assert.match(stdout, /--env-file/)
      }
    })

    test('unknown arguments are errors', async () => {
      for (const argument of ['frobnicate', '--frobnicate']) {
        const { code, stdout, stderr } = await runToEnd(NAMES.server, argument)
        assert.deepEqual([code, stdout], [1, ''])
        assert.match(stderr, /^Pinhole did not start:\n.*frobnicate/)
        const operator = await runToEnd('pinhole-operator', argument)
        assert.equal(operator.code, 2)
        assert.match(operator.stderr, /unknown (command|option) '(--)?frobnicate'/)
      }
    })

    test('both commands read variables from the same file', async (t) => {
      const file = join(home, 'pinhole.env')
      await writeFile(file, `PORT=0\nDATA_DIR=${join(home, 'data')}\nOPERATOR_CONTACT=a&b\n`)
      const { child, output, ended } = launch(['--env-file', file], env, command(NAMES.server), home)
      t.after(() => child.kill('SIGKILL'))
      await until('the server is listening', () => /Pinhole is at \S+\n/.test(output.stdout), START_MS)
      const address = /Pinhole is at (\S+)/.exec(output.stdout)![1]!
      assert.match(await (await fetch(`${address}/terms`)).text(), /a&amp;b/)
      const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
      const form = new FormData()
      form.append('file', new Blob([gif]), 'one.gif')
      assert.equal((await fetch(`${address}/api/upload`, { method: 'POST', body: form })).status, 201)
      const { code, stdout, stderr } = await runToEnd(
        'pinhole-operator',
        '--env-file',
        file,
        'list',
        '--count',
      )
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stderr, /Warning/)
      assert.match(stdout, /\b1\b/)
      child.kill('SIGTERM')
      assert.equal((await ended).code, 0)
    })

    test('it contains the licenses of all bundled packages', async () => {
      const text = await readFile(join(home, 'node_modules', NAMES.server, 'THIRD-PARTY-LICENSES.md'), 'utf8')
      for (const name of ['hono', 'pg', 'nodemailer', 'undici', 'pino'])
        assert.match(text, new RegExp(`^## ${name} - `, 'm'))
    })
  })
}
