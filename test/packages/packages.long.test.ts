/** Both packages, installed from their tarballs, on every Node version that they support. */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { cameraJpeg } from '../client/pictures.ts'
import { heic } from '../support/images/heic.ts'
import { picture } from '../support/images/pictures.ts'
import { nodeOf } from '../support/processes/node-of.ts'
import { launch, NODE, ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { bundlers } from './bundlers.ts'
import { documents } from './documents.ts'
import { examples } from './examples.ts'
import { type Installed, install, NAMES, pack, run } from './installed.ts'
import { serverPackage } from './server-package.ts'
import { types } from './types.ts'

const packed = await pack()
const client = await install(packed, NAMES.client)
const server = await install(packed, NAMES.server)

/** Allows for five concurrent test files on a slow machine. */
const START_MS = 120_000

const commandOf = ({ folder }: Installed) => join(folder, 'node_modules', NAMES.client, 'bin/pinhole.mjs')

/** Runs the server's package while `use` works with it. */
async function serving(node: string, use: (address: string) => Promise<void>): Promise<void> {
  const launcher = join(server.folder, 'node_modules', NAMES.server, 'bin/serve.mjs')
  const env = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: `pictures-${process.pid}` }
  const { child, output, ended } = launch([launcher], env, node, server.folder)
  // Requires a following character, so that the address has arrived completely.
  const address = () => /(https?:\/\/[^\s",]+)[\s",]/.exec(output.stdout)?.[1]
  try {
    await until('the server prints its address', () => address() !== undefined, START_MS)
    await use(address()!)
  } finally {
    child.kill('SIGTERM')
  }
  const { code, stderr } = await ended
  assert.equal(code, 0, stderr)
}

test('the client has at most 25 packages and 14 MB, and no server packages', async () => {
  const names = client.packages.map((path) => path.slice(path.lastIndexOf('node_modules/') + 13))
  assert.ok(names.length <= 25, names.join(' '))
  for (const name of names) assert.doesNotMatch(name, /^(?:hono|pg|pino|@hono)/)
  const { stdout } = await run('du', ['-sbk', '--apparent-size', 'node_modules'], { cwd: client.folder })
  const kilobytes = Number.parseInt(stdout, 10)
  assert.ok(kilobytes <= 14_000, `${kilobytes} KB in ${names.length} packages`)
})

test('the tarballs contain no TypeScript, and complete package.json files', async () => {
  for (const [{ folder }, name] of [
    [client, NAMES.client],
    [server, NAMES.server],
  ] as const) {
    const home = join(folder, 'node_modules', name)
    const { stdout } = await run('find', [join(home, 'lib'), '-name', '*.ts', '-not', '-name', '*.d.ts'])
    assert.equal(stdout, '')
    const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
    assert.equal(manifest.private, undefined)
    assert.deepEqual(
      [manifest.name, manifest.license, manifest.publishConfig.provenance],
      [name, 'MIT', true],
    )
  }
})

test('pages, docs and examples use the package names of package.json', async () => {
  const sources = ['src/openapi.ts', 'docs/client.md']
  for (const file of [...sources, 'README.md', 'examples/node/upload.mjs']) {
    const text = await readFile(join(ROOT, file), 'utf8')
    const names = [...text.matchAll(/(?:from|import\() ?'([\w@/-]+)\/client'/g)].map(([, name]) => name!)
    assert.ok(names.length > 0, file)
    for (const name of names) assert.ok(Object.values(NAMES).includes(name), `${file}: ${name}`)
  }
})

for (const major of [22, 24, 26]) {
  test(`Node ${major}: the command uploads to the packaged server, and the SDK compresses`, async () => {
    const node = await nodeOf(major)
    await writeFile(join(client.folder, 'photo.jpg'), await cameraJpeg(320, 240))
    const env = { PATH: process.env.PATH, HOME: client.folder, XDG_DATA_HOME: join(client.folder, '.data') }
    // The server's package requires 24.
    await serving(major < 24 ? NODE : node, async (address) => {
      const args = [commandOf(client), '--server', address, '--json', 'photo.jpg']
      const { stdout } = await run(node, args, { cwd: client.folder, env })
      const { raw, bytesOut, action } = JSON.parse(stdout)
      assert.equal(action, 'lossy')
      assert.equal((await (await fetch(raw)).arrayBuffer()).byteLength, bytesOut)
      // The page assets are included.
      const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text()
      const script = /<script[^>]* src="([^"]+)"/.exec(page)?.[1]
      assert.equal((await fetch(new URL(script!, address))).status, 200)
    })
    await writeFile(
      join(client.folder, 'use.mjs'),
      `import { compress } from '${NAMES.client}/client'
       import { openAsBlob } from 'node:fs'
       const { action, blob, bytesOut } = await compress(await openAsBlob('photo.jpg'))
       console.log(JSON.stringify({ action, type: blob.type, same: blob.size === bytesOut }))`,
    )
    const { stdout } = await run(node, ['use.mjs'], { cwd: client.folder, env })
    assert.deepEqual(JSON.parse(stdout), { action: 'lossy', type: 'image/jpeg', same: true })
  })
}

test('decoders are bundled without encoders and with their licenses, and decode', async () => {
  const home = join(client.folder, 'node_modules', NAMES.client)
  const { stdout: files } = await run('find', ['node_modules', '-type', 'f'], { cwd: home })
  assert.doesNotMatch(files, /_enc/)
  for (const name of ['@jsquash/avif', '@jsquash/jxl', 'libheif-js']) {
    assert.match(files, new RegExp(`^node_modules/${name}/LICENSE$`, 'm'))
  }
  const avif = picture({ width: 1040, height: 720 }).avif({ quality: 90, effort: 0 })
  await writeFile(join(client.folder, 'photo.avif'), await avif.toBuffer())
  await writeFile(join(client.folder, 'photo.heic'), heic({}))
  await writeFile(
    join(client.folder, 'decode.mjs'),
    `import { compress } from '${NAMES.client}/client'
     import { openAsBlob } from 'node:fs'
     const [avif, heic] = await Promise.all(['photo.avif', 'photo.heic'].map(async (file) => compress(await openAsBlob(file))))
     console.log(JSON.stringify([avif.blob.type, avif.preview?.type, heic.typeIn, heic.blob.type]))`,
  )
  const { stdout } = await run(NODE, ['decode.mjs'], { cwd: client.folder })
  assert.deepEqual(JSON.parse(stdout), ['image/avif', 'image/jpeg', 'image/heic', 'image/jpeg'])
})

test('`pinhole serve` finds an installed server, or says how to get it', async () => {
  const args = [commandOf(client), 'serve', '--port', 'x']
  const alone = await run(NODE, args, { cwd: client.folder }).catch((error) => error)
  assert.equal(alone.code, 2)
  assert.match(
    alone.stderr,
    new RegExp(`a separate package that is not installed next to this one: ${NAMES.server}`),
  )
  const both = await install(packed, NAMES.client, NAMES.server)
  const beside = await run(NODE, [commandOf(both), 'serve', '--port', 'x'], { cwd: both.folder }).catch(
    (error) => error,
  )
  assert.equal(beside.code, 1)
  assert.match(beside.stderr, /PORT/)
})

test('a release has both tarballs, each with an SBOM', async () => {
  const { out, names } = packed
  assert.equal(names.length, 4)
  const namesIn = async (file: string) =>
    JSON.parse(await readFile(join(out, file), 'utf8')).components.map(({ purl }: { purl: string }) =>
      purl.replace(/@[^@]*$/, ''),
    )
  const [, ofClient = '', tarball = '', ofServer = ''] = names
  assert.ok((await stat(join(out, tarball))).size > 1e6)
  assert.ok((await namesIn(ofClient)).includes('pkg:npm/%40jsquash/webp'))
  for (const dependency of ['hono', 'pg', 'undici'])
    assert.ok((await namesIn(ofServer)).includes(`pkg:npm/${dependency}`), dependency)
  assert.ok(!(await namesIn(ofServer)).includes('pkg:npm/vite'))
})

types(client)
documents({ client, server })
serverPackage(server)
await examples(client)
await bundlers(client)
