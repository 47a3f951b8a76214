/** What `npm ci` does on machines that have nothing to build with. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/processes/process.ts'

test('npm builds no package from source', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const found = globSync('node_modules/{*,@*/*}/binding.gyp', { cwd: ROOT }).map((path) =>
    path.replace('/binding.gyp', ''),
  )
  assert.ok(found.includes('node_modules/better-sqlite3'))
  for (const path of found) {
    const { gypfile } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
    assert.equal(gypfile, false, `${path} has to be built`)
    // npm 10, which Node 20 and 22 have, does not read it there; without a word in the lock file it calls node-gyp.
    assert.equal(packages[path].gypfile, false, `add "gypfile": false to ${path} in package-lock.json`)
  }
})

/** A checkout of no more than the step that brings Node; `brought` is a program that stands for the Node that npm brings. */
function bring(t: { after(done: () => void): void }, own: string, brought: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pinhole-bring-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'runtime'))
  for (const file of ['bin/bring-node.mjs', 'runtime/package-lock.json'])
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
  const ran = spawnSync(process.execPath, ['bin/bring-node.mjs'], { cwd: folder, env, encoding: 'utf8' })
  return { code: ran.status, stderr: ran.stderr, link: join(folder, 'node_modules/.bin/node') }
}

const STARTS = '#!/bin/sh\necho 24.21.0\n'

test('an old Node gets another one, and scripts find it first', (t) => {
  for (const own of ['20.20.2', '22.11.0']) {
    const { code, stderr, link } = bring(t, own, STARTS)
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(readFileSync(link, 'utf8'), STARTS)
  }
})

test('a Node that runs the sources is used as it is', (t) => {
  for (const own of ['24.0.0', '26.10.0']) {
    const { code, stderr, link } = bring(t, own, STARTS)
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
  test(`where it can't start, a sentence says what to do: ${name}`, (t) => {
    const { code, stderr, link } = bring(t, '20.20.2', brought)
    assert.equal(code, 1)
    assert.match(stderr, why)
    assert.match(
      stderr,
      /^Pinhole needs Node 24 or later\. This machine has 20\.20\.2, and .+\nInstall Node 24 .+\n$/,
    )
    assert.throws(() => readFileSync(link), { code: 'ENOENT' })
  })
}
