/** The released single executable, unpacked in a minimal Debian without Node and run as an unprivileged user. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chown, cp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ENVIRONMENT } from '../../bin/tuning.mjs'
import { releaseExecutable } from '../../build/executable.ts'
import { addLibraries } from '../../build/image.ts'
import { httpContract } from '../contracts/http.ts'
import { letOthersRead, newFolder } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { breakLedger } from '../support/processes/broken-ledger.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { ownHost } from '../support/processes/own-host.ts'
import type { Env } from '../support/processes/process.ts'
import { startServer } from '../support/processes/server.ts'
import { fetchRaw, remove, store } from '../support/upload.ts'
import { type BareRoot, makeBareRoot, USER, whyNoBareRoot } from './bare-root.ts'
import { type Variants, variantsIn } from './variants.ts'

const run = promisify(execFile)

const MAX_BYTES = 50e6
const PROGRAM = '/usr/local/bin/pinhole-server'
const QEMU = 'qemu-aarch64'

const skip = await whyNoBareRoot()
const skipArm64 = await skipWithout(QEMU)

describe('the single executable', { skip }, () => {
  let bare: BareRoot
  let out: string
  let variants: Variants
  before(async () => {
    // Visible to both systems, and read by another account.
    await letOthersRead(tmpdir())
    out = await newFolder()
    bare = await makeBareRoot()
    const [archive = ''] = await releaseExecutable('linux-x64', out)
    await run('tar', ['-xzf', join(out, archive), '-C', out])
    await cp(join(out, archive.replace('.tar.gz', ''), 'pinhole-server'), join(bare.folder, PROGRAM))
    variants = variantsIn(join(bare.folder, 'usr/local/bin'))
  })
  after(async () => {
    await bare?.remove()
    if (out) await rm(out, { recursive: true, force: true })
  })

  async function startInRoot(env: Env = {}) {
    const dataDir = await newFolder()
    await chown(dataDir, Number.parseInt(USER, 10), Number.parseInt(USER, 10))
    const { settings, name } = await variants.of(env)
    const server = await startServer(settings, {
      dataDir,
      program: bare.program(name ? `/usr/local/bin/${name}` : PROGRAM),
    })
    return {
      ...server,
      dataDir,
      async stop() {
        const ran = await server.stop()
        await rm(dataDir, { recursive: true, force: true })
        return ran
      },
    }
  }

  test('has at most 50 MB for each platform, with licenses and SBOM', async () => {
    await releaseExecutable('linux-arm64', out)
    const names = await readdir(out)
    for (const platform of ['linux-x64', 'linux-arm64']) {
      const name = names.find((name) => name.endsWith(`${platform}.tar.gz`)) ?? ''
      assert.ok(
        (await stat(join(out, name))).size <= MAX_BYTES,
        `${name}: ${(await stat(join(out, name))).size}`,
      )
      const { stdout } = await run('tar', ['-tzf', join(out, name)])
      assert.match(stdout, /\/pinhole-server\n/)
      const bom = JSON.parse(await readFile(join(out, name.replace('.tar.gz', '.cdx.json')), 'utf8'))
      const parts = bom.components.map(({ name }: { name: string }) => name)
      for (const part of ['node', 'hono', 'undici', 'pg']) assert.ok(parts.includes(part), part)
      const { stdout: licenses } = await run('tar', [
        '-xOzf',
        join(out, name),
        '--wildcards',
        '*/LICENSES.txt',
      ])
      for (const part of parts) assert.ok(licenses.includes(`\n${part} `), part)
    }
  })

  test('the arm64 executable has the right architecture, and contains its assets', async () => {
    const [archive = ''] = (await readdir(out)).filter((name) => name.endsWith('linux-arm64.tar.gz'))
    await run('tar', ['-xzf', join(out, archive), '-C', out])
    const file = join(out, archive.replace('.tar.gz', ''), 'pinhole-server')
    const handle = await open(file)
    const { buffer } = await handle.read(Buffer.alloc(64), 0, 64, 0)
    await handle.close()
    assert.deepEqual([...buffer.subarray(0, 5)], [0x7f, 0x45, 0x4c, 0x46, 2])
    // EM_AARCH64
    assert.equal(buffer.readUInt16LE(18), 183)
    const bytes = await readFile(file)
    assert.ok(bytes.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1'))
    assert.ok(bytes.includes('web/assets.json'))
  })

  test('the arm64 executable stores and deletes an image under qemu', { skip: skipArm64 }, async () => {
    const root = await newFolder()
    await addLibraries('linux-arm64', root)
    const [archive = ''] = (await readdir(out)).filter((name) => name.endsWith('linux-arm64.tar.gz'))
    await run('tar', ['-xzf', join(out, archive), '-C', root, '--strip-components=1'])
    // With glibc's settings from the start: under qemu the program can't restart itself.
    const program = { file: QEMU, words: ['-L', root, join(root, 'pinhole-server')] }
    const server = await startServer(ENVIRONMENT, { program })
    const image = gif()
    const { id, key } = await store(server.url, image)
    assert.deepEqual((await fetchRaw(server.url, id)).body, image)
    assert.match((await server.operator(['status'])).stdout, /^images 1$/m)
    assert.equal((await remove(server.url, key)).status, 200)
    assert.equal((await server.stop()).code, 0)
    await rm(root, { recursive: true, force: true })
  })

  test('runs several workers, and rejects unknown arguments', async () => {
    await assert.rejects(stat(join(bare.folder, 'usr/bin/node')))
    const server = await startInRoot({ WORKERS: '2' })
    const image = gif()
    const { id, key } = await store(server.url, image)
    assert.deepEqual((await fetchRaw(server.url, id)).body, image)
    assert.equal((await remove(server.url, key)).status, 200)
    assert.equal((await server.operator(['frobnicate'])).code, 2)
    assert.equal((await server.stop()).code, 0)
    await assert.rejects(bare.asRoot(PROGRAM, 'frobnicate'), /frobnicate/)
  })

  httpContract('the single executable', async (env) => {
    const server = await startInRoot(env)
    return {
      ...ownHost(server),
      breakDown: () => breakLedger(server.dataDir),
      stop: () => server.stop(),
    }
  })
})
