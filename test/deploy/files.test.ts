/** Static checks of `deploy/`. Its nginx and Varnish sites run in other tests. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { validate } from 'dockerfile-utils'
import { LIMITS } from '../../src/node/http/limits.ts'
import { folderOf } from '../support/folder.ts'
import { replaced, skipWithout, withoutCache, withTls } from '../support/processes/caches.ts'
import { ROOT } from '../support/processes/process.ts'

const run = promisify(execFile)
const shipped = (path: string) => readFile(join(ROOT, 'deploy', path), 'utf8')

test('the Dockerfile passes its linter', async () => {
  const found = validate(await shipped('docker/Dockerfile'))
  assert.deepEqual(
    found.map(({ range, message }) => `line ${range.start.line + 1}: ${message}`),
    [],
  )
})

test('systemd accepts the unit', { skip: await skipWithout('systemd-analyze') }, async (t) => {
  const unit = replaced(await shipped('systemd/pinhole.service'), [
    [/^ExecStart=\/usr\/bin\/pinhole-server$/m, `ExecStart=${process.execPath}`],
  ])
  const file = join(await folderOf(t), 'pinhole.service')
  await writeFile(file, unit)
  const { stdout, stderr } = await run('systemd-analyze', ['verify', file])
  // Unknown settings are only warnings, with exit code 0.
  assert.doesNotMatch(stdout + stderr, /pinhole\.service/)
})

test('the unit in the npm package’s README has the shipped one’s settings, which restart it without end', async () => {
  const readme = await readFile(join(ROOT, 'build/packages/server.md'), 'utf8')
  const [, service = ''] = /^\[Service\]\n(.*?)\n\n/ms.exec(readme) ?? []
  const unit = (await shipped('systemd/pinhole.service')).split('\n')
  const differing = service.split('\n').filter((line) => !unit.includes(line))
  assert.deepEqual(
    differing.map((line) => line.split('=')[0]),
    ['DynamicUser', 'ExecStart'],
  )
  const secondsOf = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(service)?.[1])
  // systemd gives up after 5 starts within 10 s.
  assert.ok(secondsOf('RestartSec') * 5 >= 10)
})

test('Nix evaluates the module, which replaces the unit’s program by the server', {
  skip: await skipWithout('nix-instantiate'),
}, async (t) => {
  const folder = await folderOf(t)
  for (const path of ['nixos/pinhole.nix', 'systemd/pinhole.service'])
    await writeFile(join(folder, basename(path)), await shipped(path))
  await writeFile(join(folder, 'pinhole-server.tgz'), '')
  // Stand-ins for the parts of Nixpkgs that the module uses.
  const pkgs = `{
    nodejs_24 = "node-24";
    runCommand = name: _: script: "/store/\${name}";
    writeTextDir = path: text: { inherit path text; };
  }`
  const expression = `import ${folder}/pinhole.nix { lib.getExe = of: "/store/\${of}/bin/node"; pkgs = ${pkgs}; }`
  const { stdout } = await run('nix-instantiate', ['--eval', '--strict', '--json', '--expr', expression], {
    env: { ...process.env, NIX_STORE_DIR: join(folder, 'store'), NIX_STATE_DIR: join(folder, 'state') },
  })
  const { systemd, users } = JSON.parse(stdout)
  assert.deepEqual(systemd.services.pinhole.serviceConfig.ExecStart, [
    '',
    '/store/node-24/bin/node /store/pinhole-server/bin/serve.mjs',
  ])
  const [{ path, text }] = systemd.packages
  assert.equal(path, 'lib/systemd/system/pinhole.service')
  const user = /^User=(.+)$/m.exec(text)?.[1] ?? ''
  assert.equal(users.users[user].group, /^Group=(.+)$/m.exec(text)?.[1])
})

test('nginx accepts the site with TLS and a redirect to it', {
  skip: await skipWithout(['nginx', 'openssl']),
}, async (t) => {
  const folder = await folderOf(t)
  const [, redirect] = /^# (server \{.*\})$/m.exec(await shipped('nginx/tls.conf'))!
  const site = replaced(await withTls(withoutCache(await shipped('nginx/pinhole.conf')), folder), [
    [/\/var\/log\/nginx\/pinhole\.log/, join(folder, 'access.log')],
    [/\/var\/log\/nginx\/pinhole-error\.log/, join(folder, 'error.log')],
  ])
  const conf = join(folder, 'nginx.conf')
  await writeFile(conf, `pid ${folder}/pid;\nevents {}\nhttp {\n${site}\n${redirect}\n}\n`)
  await run('nginx', ['-t', '-p', folder, '-e', join(folder, 'error.log'), '-c', conf])
})

test('nginx and Varnish let an upload pause for as long as the servers do', async () => {
  for (const [file, pattern] of [
    ['nginx/pinhole.conf', /client_body_timeout (\d+)s/],
    ['docker/nginx.conf', /client_body_timeout (\d+)s/],
    ['varnish/pinhole.vcl', /-p timeout_idle=(\d+)/],
  ] as const) {
    assert.equal(Number(pattern.exec(await shipped(file))?.[1]) * 1000, LIMITS.idleMs, file)
  }
})

test('nginx sends requests for an image that it cannot cache at the same time', async () => {
  const site = await shipped('nginx/pinhole.conf')
  // Its default is 5 s, for each request.
  assert.ok(Number(/^ *proxy_cache_lock_timeout (\d+)ms;/m.exec(site)?.[1]) < 500)
})

test('Caddy accepts its configuration', { skip: await skipWithout('caddy') }, async (t) => {
  const folder = await folderOf(t)
  await run(
    'caddy',
    ['validate', '--adapter', 'caddyfile', '--config', join(ROOT, 'deploy/caddy/Caddyfile')],
    {
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  )
})
