/** The package as it would be published: packed, unpacked beside what the lock file says it needs, and used from there. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { cameraJpeg } from '../client/pictures.ts'
import { NODE, ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)

/** The packages that somebody who installs this one gets, and no others: the lock file's, without those for development. */
async function needed(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; optional?: true; devOptional?: true }>
  }
  return Object.entries(packages).flatMap(([path, { dev, optional, devOptional }]) =>
    path === '' || dev || optional || devOptional ? [] : [path],
  )
}

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinhole-package-'))
  // What npm sets for the scripts of this project must not reach the npm of another.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT, env })
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  await writeFile(join(folder, 'package.json'), '{ "name": "somebody", "private": true, "type": "module" }')
  const home = join(folder, 'node_modules/pinhole')
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '-C', home, '--strip-components=1'])
  // Copied, not asked of a registry: the tests need no network.
  for (const path of await needed()) await cp(join(ROOT, path), join(folder, path), { recursive: true })
})
after(() => rm(folder, { recursive: true, force: true }))

const installed = () => join(folder, 'node_modules/pinhole/bin/pinhole.mjs')

test('the tarball brings JavaScript and no TypeScript but types', async () => {
  const { stdout } = await run('find', ['node_modules/pinhole', '-name', '*.ts', '-not', '-name', '*.d.ts'], {
    cwd: folder,
  })
  assert.equal(stdout, '')
})

test('pinhole serve and pinhole upload run from it', async () => {
  const server = spawn(
    NODE,
    [installed(), 'serve', '--port', '0', '--host', '127.0.0.1', '--data', 'pictures'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH },
    },
  )
  let said = ''
  server.stdout.on('data', (text) => {
    said += text
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    await until('the server says where it is', () => /Pinhole is at \S+\n/.test(said))
    const address = /Pinhole is at (\S+)/.exec(said)![1]!
    await writeFile(join(folder, 'photo.jpg'), await cameraJpeg(320, 240))
    const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: join(folder, '.data') }
    const { stdout } = await run(NODE, [installed(), 'upload', '--server', address, '--json', 'photo.jpg'], {
      cwd: folder,
      env,
    })
    const { raw, bytesOut, action } = JSON.parse(stdout)
    assert.equal(action, 'lossy')
    assert.equal((await (await fetch(raw)).arrayBuffer()).byteLength, bytesOut)
    // The pages' files came along.
    const page = await (await fetch(address)).text()
    const script = /<script[^>]* src="([^"]+)"/.exec(page)?.[1]
    assert.equal((await fetch(new URL(script!, address))).status, 200)
  } finally {
    server.kill('SIGTERM')
  }
  assert.equal(await ended, 0)
})

test('pinhole/client runs from it', async () => {
  await writeFile(
    join(folder, 'use.mjs'),
    `import { compress } from 'pinhole/client'
     import { openAsBlob } from 'node:fs'
     const { action, blob, bytesOut } = await compress(await openAsBlob('photo.jpg'))
     console.log(JSON.stringify({ action, type: blob.type, same: blob.size === bytesOut }))`,
  )
  await writeFile(join(folder, 'photo.jpg'), await cameraJpeg(320, 240))
  const { stdout } = await run(NODE, ['use.mjs'], { cwd: folder })
  assert.deepEqual(JSON.parse(stdout), { action: 'lossy', type: 'image/jpeg', same: true })
})

test('pinhole/client has its types', async () => {
  const compile = async (code: string) => {
    await writeFile(join(folder, 'use.ts'), code)
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
      '--types',
      '',
    ]
    return run(NODE, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'use.ts'], {
      cwd: folder,
    }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
  }
  const good = `import { type Mode, type Progress, Refusal, remove, ServerRefusal, Unreachable, upload } from 'pinhole/client'
    const mode: Mode = 'lossless'
    const onProgress = (progress: Progress) => { if (progress.stage === 'uploading') progress.percent.toFixed() }
    const { id, link, key, delete: gone, raw, bytesIn, bytesOut, type, action } =
      await upload(new Blob([]), { mode, onProgress, retries: 1, baseUrl: 'https://pics.example', signal: AbortSignal.timeout(1) })
    const texts: string[] = [id, link, key, gone, raw, type, action]
    await remove(key).catch((error: unknown) => {
      if (error instanceof ServerRefusal) error.problem?.detail.trim()
      if (error instanceof Refusal) error.code.trim()
      if (error instanceof Unreachable) error.attempts.toFixed()
    })
    console.log(texts, bytesIn - bytesOut)`
  assert.equal(await compile(good), '')
  assert.match(await compile(good.replace("'lossless'", "'best'")), /'"best"' is not assignable/)
})

test('what is published says what it needs', async () => {
  const { engines, bin, exports } = JSON.parse(
    await readFile(join(folder, 'node_modules/pinhole/package.json'), 'utf8'),
  )
  assert.deepEqual(
    [engines.node, bin.pinhole, Object.keys(exports)],
    ['>=24', 'bin/pinhole.mjs', ['./client', './package.json']],
  )
})
