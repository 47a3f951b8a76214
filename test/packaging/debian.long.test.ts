/** The Debian package, installed by dpkg in a minimal Debian without Node and systemd. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { releaseDebian } from '../../build/debian.ts'
import { letOthersRead, newFolder } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { freePort } from '../support/processes/caches.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { fetchRaw, remove, store } from '../support/upload.ts'
import { type BareRoot, makeBareRoot, whyNoBareRoot } from './bare-root.ts'
import { installPackage, SETTINGS, startUnit } from './debian-unit.ts'

const run = promisify(execFile)

const DATA = 'var/lib/pinhole'
const skip = await whyNoBareRoot()

describe('the Debian package', { skip }, () => {
  let bare: BareRoot
  let old: string
  let fresh: string
  before(async () => {
    await letOthersRead(tmpdir())
    const out = await newFolder()
    bare = await makeBareRoot()
    const versions = await Promise.all(
      ['', '999.0'].map((version) => releaseDebian('linux-x64', out, version)),
    )
    ;[old, fresh] = versions.map(([name = '']) => join(out, name)) as [string, string]
  })
  after(() => bare?.remove())

  const inRoot = (path: string) => join(bare.folder, path)
  const install = (file: string) => installPackage(bare, file)
  const started = (port: number) => startUnit(bare, port)

  /** Files below DATA_DIR that do not belong to the service's account. */
  async function foreignFiles(): Promise<string[]> {
    const owner = (await stat(inRoot(DATA))).uid
    assert.notEqual(owner, 0)
    const paths = await readdir(inRoot(DATA), { recursive: true })
    const owners = await Promise.all(paths.map(async (path) => (await stat(inRoot(join(DATA, path)))).uid))
    return paths.filter((_, index) => owners[index] !== owner)
  }

  test('installs the account, the unit, the settings and a private data folder', async () => {
    await assert.rejects(stat(inRoot('usr/bin/node')))
    await install(old)
    assert.match(await readFile(inRoot('etc/passwd'), 'utf8'), /^pinhole:.*:\/usr\/sbin\/nologin$/m)
    assert.equal((await stat(inRoot(DATA))).mode & 0o777, 0o700)
    assert.equal((await stat(inRoot(SETTINGS))).mode & 0o777, 0o640)
    const { stdout } = await run('readlink', [
      inRoot('etc/systemd/system/multi-user.target.wants/pinhole.service'),
    ])
    assert.match(stdout, /pinhole\.service/)
  })

  test('the operator’s command names itself, and says that it needs root', async () => {
    const { stdout } = await bare.asRoot('/usr/bin/pinhole-operator', '--help')
    assert.match(stdout, /^Usage: pinhole-operator \[/)
    const { file, words } = bare.as('1000:1000', '/usr/bin/pinhole-operator', 'status')
    await assert.rejects(run(file, words), { code: 1, stderr: /^pinhole-operator: run it as root$/m })
  })

  test('stores and deletes an upload; files written by root’s operator commands belong to the service', async () => {
    const server = await started(await freePort())
    const image = gif()
    const { id, key } = await store(server.url, image)
    assert.deepEqual((await fetchRaw(server.url, id)).body, image)
    await bare.asRoot('/usr/bin/pinhole-operator', 'set', 'daily-uploads', '500')
    await bare.asRoot('/usr/bin/pinhole-operator', 'hold', id, '--reason', 'a trial')
    assert.equal((await fetchRaw(server.url, id)).status, 403)
    assert.deepEqual(await foreignFiles(), [])
    await bare.asRoot('/usr/bin/pinhole-operator', 'release', id, '--reason', 'over')
    assert.equal((await remove(server.url, key)).status, 200)
    await server.stop()
  })

  test('a value with & reaches server and operator unchanged', async () => {
    const s3 = await startFakeS3()
    const plain = await readFile(inRoot(SETTINGS), 'utf8')
    try {
      const bucketUrl = `s3://${s3.bucket}/debian?endpoint=${s3.endpoint}&region=${s3.region}&style=path`
      const keys = `AWS_ACCESS_KEY_ID=${s3.accessKeyId}\nAWS_SECRET_ACCESS_KEY=${s3.secretAccessKey}\n`
      // A separate ledger, because a ledger records where its images are.
      await writeFile(
        inRoot(SETTINGS),
        `${plain}\nDATA_DIR=/${DATA}/other\nOBJECTS_URL=${bucketUrl}\n${keys}`,
      )
      const server = await started(await freePort())
      const { id } = await store(server.url, gif())
      const { stdout } = await bare.asRoot('/usr/bin/pinhole-operator', 'list')
      assert.match(stdout, new RegExp(id))
      await server.stop()
    } finally {
      await writeFile(inRoot(SETTINGS), plain)
      await s3.close()
    }
  })

  test('an upgrade keeps images and changed settings', async () => {
    const first = await started(await freePort())
    const { id, key } = await store(first.url, gif())
    await first.stop()
    const changed = `${await readFile(inRoot(SETTINGS), 'utf8')}\nOPERATOR_NAME=Ada\n`
    await writeFile(inRoot(SETTINGS), changed)
    await install(fresh)
    assert.equal(await readFile(inRoot(SETTINGS), 'utf8'), changed)
    const second = await started(await freePort())
    assert.equal((await fetchRaw(second.url, id)).status, 200)
    assert.equal((await remove(second.url, key)).status, 200)
    await second.stop()
  })

  test('a purge asks, and keeps images unless confirmed', async () => {
    const answer = (yes: boolean) =>
      bare.asRoot(
        '/bin/sh',
        '-c',
        `echo "pinhole-server pinhole/remove-data boolean ${yes}" | debconf-set-selections`,
      )
    const purge = () =>
      bare.asRoot('/usr/bin/env', 'DEBIAN_FRONTEND=noninteractive', 'dpkg', '--purge', 'pinhole-server')
    await answer(false)
    await purge()
    assert.ok((await readdir(inRoot(DATA))).includes('images'))
    await assert.rejects(stat(inRoot(SETTINGS)))
    await install(fresh)
    await answer(true)
    await purge()
    await assert.rejects(stat(inRoot(DATA)))
  })
})
