/** `npm run release`, as a maintainer starts it: what it makes, and that it makes the same again. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PLATFORMS } from '../../build/platforms.ts'
import { type Engine, openEngine } from '../deploy/engine.ts'
import { newFolder } from '../support/folder.ts'
import { isInstalled } from '../support/processes/caches.ts'
import { COMPILED, NODE, ROOT, run } from '../support/processes/process.ts'

const { version, packages } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

const skip = await whyNot()

describe('a release', { skip }, () => {
  let engine: Engine
  let out: string
  let names: string[]
  before(async () => {
    engine = await openEngine()
    out = await newFolder()
    await released(out)
    names = (await readdir(out)).sort()
  })
  after(async () => {
    await engine?.close()
    if (out) await rm(out, { recursive: true, force: true })
  })

  /** `words`: parts and platforms. */
  async function released(folder: string, words: string[] = []): Promise<void> {
    const env = { ...(process.env as Record<string, string>), ...COMPILED, ...engine.variables }
    const { code, stderr } = await run(['build/release.ts', ...words, '--out', folder], env, NODE)
    assert.equal(code, 0, stderr)
  }

  async function digestOf(file: string): Promise<string> {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  }

  test('has packages, executables, Debian packages and images, each with the list of what is in it', () => {
    const expected = [
      ...Object.values<string>(packages).map((name) => `${name}-${version}.tgz`),
      ...PLATFORMS.flatMap((platform) => [
        `pinhole-server-${version}-${platform}.tar.gz`,
        `pinhole-server-${version}-image-${platform}.tar.gz`,
        `pinhole-server_${version}_${platform === 'linux-x64' ? 'amd64' : 'arm64'}.deb`,
      ]),
    ]
    const boms = expected.map((name) => name.replace(/\.(?:tgz|tar\.gz|deb)$/, '.cdx.json'))
    assert.deepEqual(names, [...expected, ...boms, 'SHA256SUMS', 'provenance.json'].sort())
  })

  test('its checksums and its provenance name all of it', async () => {
    const sums = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
    const digests = new Map(sums.map((line) => line.split('  ').reverse() as [string, string]))
    assert.deepEqual(
      [...digests.keys(), 'SHA256SUMS'].sort(),
      names,
      'each file, and the list of checksums itself',
    )
    for (const [name, digest] of digests) assert.equal(await digestOf(join(out, name)), digest, name)
    const { subject } = JSON.parse(await readFile(join(out, 'provenance.json'), 'utf8'))
    digests.delete('provenance.json')
    assert.deepEqual(
      new Map(
        subject.map((one: { name: string; digest: { sha256: string } }) => [one.name, one.digest.sha256]),
      ),
      digests,
    )
  })

  test('built again it has the same bytes', async () => {
    const again = await newFolder()
    await released(again)
    const differing: string[] = []
    for (const name of names) {
      if ((await digestOf(join(out, name))) !== (await digestOf(join(again, name)))) differing.push(name)
    }
    assert.deepEqual(differing, [])
    assert.deepEqual((await readdir(again)).sort(), names)
    await rm(again, { recursive: true, force: true })
  })

  test('a word that it does not know is an error, before anything is made', async () => {
    const { code, stderr } = await run(['build/release.ts', 'frobnicate', '--out', out], COMPILED, NODE)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /no such part: frobnicate\. There are: packages, executable, debian, image, linux-x64/,
    )
    assert.deepEqual((await readdir(out)).sort(), names)
  })
})

/** Why none can be made here. In CI that is a failure. */
async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'does not apply: images are put together by root here'
  if (process.env.PINHOLE_CI || (await isInstalled('buildah', 'mmdebstrap', 'dpkg-deb'))) return false
  return 'buildah, mmdebstrap or dpkg-deb is not on this machine'
}
