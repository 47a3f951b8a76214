/** Releases: version, checksums and provenance. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checksums, provenance, removeOtherVersions } from '../build/release.ts'
import { FILES, setVersion, versionOf } from '../build/version.ts'
import { folderOf } from './support/folder.ts'
import { ROOT } from './support/processes/process.ts'

test('takes the version from the first heading of CHANGELOG.md', async () => {
  assert.equal(versionOf('# Changelog\n\nWords.\n\n## 1.2.3\n\n- One\n\n## 1.2.2\n'), '1.2.3')
  assert.equal(versionOf('# Changelog\n\n## 1.2.3 (2026-11-22)\n'), '1.2.3')
  for (const text of ['# Changelog\n', '# Changelog\n\n## Unreleased\n\n## 1.2.3\n', '## 1.2\n'])
    assert.throws(() => versionOf(text), /CHANGELOG\.md begins with .*: give it a version/)
})

async function copied(t: TestContext): Promise<string> {
  const folder = await folderOf(t)
  for (const name of FILES) await cp(join(ROOT, name), join(folder, name))
  return folder
}

test('the current version is in every file that contains a version', async (t) => {
  const version = versionOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'))
  assert.deepEqual(await setVersion(await copied(t), version), [])
})

test('updates the version in place, and changes nothing else', async (t) => {
  const folder = await copied(t)
  assert.deepEqual(await setVersion(folder, '9.8.7'), FILES)
  const counts: Record<string, number> = { 'package-lock.json': 2, 'deploy/helm/Chart.yaml': 2 }
  for (const name of FILES) {
    const [before, after] = await Promise.all(
      [ROOT, folder].map(async (root) => (await readFile(join(root, name), 'utf8')).split('\n')),
    )
    const changed = after!.filter((line, at) => line !== before![at])
    assert.equal(after!.length, before!.length, name)
    assert.equal(changed.length, counts[name] ?? 1, name)
    for (const line of changed) assert.match(line, /\b9\.8\.7\b/)
  }
  await writeFile(join(folder, 'README.md'), 'No image.')
  await assert.rejects(setVersion(folder, '9.8.8'), /README\.md names no version/)
})

test('removes the files of other versions, and nothing else', async (t) => {
  const folder = await folderOf(t)
  const kept = ['notes', 'pinhole-server-1.2.3-linux-x64.tar.gz', 'pinhole-server_1.2.3_amd64.deb']
  const others = [
    'pinhole-1.2.2.tgz',
    'pinhole-server-1.2.2-linux-x64.tar.gz',
    'pinhole-server_1.2.2_amd64.deb',
  ]
  for (const name of [...kept, ...others]) await writeFile(join(folder, name), '')
  await removeOtherVersions(folder, '1.2.3')
  assert.deepEqual((await readdir(folder)).sort(), kept)
})

test('lists each file with its digest in checksums and provenance', async (t) => {
  const folder = await folderOf(t)
  await writeFile(join(folder, 'one'), 'one')
  await writeFile(join(folder, 'two'), 'two')
  const sums = await checksums(folder, ['one', 'two'])
  await writeFile(join(folder, 'SHA256SUMS'), sums)
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder })
  const source = { version: '1.2.3', commit: 'ab'.repeat(20), repository: undefined }
  const { subject, predicate } = JSON.parse(await provenance(folder, ['one', 'two'], source))
  assert.deepEqual(
    subject
      .map(({ name, digest }: { name: string; digest: { sha256: string } }) => `${digest.sha256}  ${name}\n`)
      .join(''),
    sums,
  )
  assert.equal(predicate.buildDefinition.externalParameters.version, '1.2.3')
})
