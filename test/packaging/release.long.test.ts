/** `npm run release` as a maintainer runs it: its output, and its reproducibility. */

import assert from 'node:assert/strict'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PLATFORMS } from '../../build/platforms.ts'
import { type Engine, openEngine } from '../deploy/engine.ts'
import { newFolder } from '../support/folder.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { COMPILED, NODE, ROOT, run } from '../support/processes/process.ts'
import { sha256Of } from '../support/sha256.ts'

const { version, packages } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

const skip = await whyNot()

describe('a release', { skip }, () => {
  let engine: Engine
  let out: string
  let names: string[]
  before(async () => {
    engine = await openEngine()
    out = await newFolder()
    await runRelease(out)
    names = (await readdir(out)).sort()
  })
  after(async () => {
    await engine?.close()
    if (out) await rm(out, { recursive: true, force: true })
  })

  /** `args`: parts and platforms. */
  async function runRelease(folder: string, args: string[] = []): Promise<void> {
    const env = { ...(process.env as Record<string, string>), ...COMPILED, ...engine.variables }
    const { code, stderr } = await run(['build/release.ts', ...args, '--out', folder], env, NODE)
    assert.equal(code, 0, stderr)
  }

  const digestOf = async (file: string) => sha256Of(await readFile(file))

  test('contains packages, executables, Debian packages and images, each with an SBOM', () => {
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

  test('has checksums and provenance of all files', async () => {
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

  test('is reproducible', async () => {
    const again = await newFolder()
    await runRelease(again)
    const differing: string[] = []
    for (const name of names) {
      if ((await digestOf(join(out, name))) !== (await digestOf(join(again, name)))) differing.push(name)
    }
    assert.deepEqual(differing, [])
    assert.deepEqual((await readdir(again)).sort(), names)
    await rm(again, { recursive: true, force: true })
  })

  test('rejects unknown arguments before building anything', async () => {
    const { code, stderr } = await run(['build/release.ts', 'frobnicate', '--out', out], COMPILED, NODE)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /no such part: frobnicate\. There are: packages, executable, debian, image, linux-x64/,
    )
    assert.deepEqual((await readdir(out)).sort(), names)
  })
})

/** The reason why no release can be built here. In CI that is a failure. */
async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'does not apply: building images needs root here'
  return skipWithout(['buildah', 'mmdebstrap', 'dpkg-deb'])
}
