/** The version of a release: CHANGELOG.md decides it, and every file that names it follows. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const FILES = [
  'package.json',
  'package-lock.json',
  'README.md',
  'deploy/README.md',
  'deploy/docker/compose.yaml',
  'deploy/docker/one.yaml',
  'deploy/helm/Chart.yaml',
  'deploy/kubernetes/pinhole.yaml',
  'deploy/unraid/pinhole.xml',
]

/** The version in npm's two files, in the chart, and where the image is named. */
const NAMED = /(?<="name": "pinhole",\s+"version": "|^(?:version|appVersion): |\/pinhole:)\d+\.\d+\.\d+/gm

/** The newest version that `changelog` has a section for. Throws if what is above it is not a version yet. */
export function versionOf(changelog: string): string {
  const [, title = ''] = /^## (.*)$/m.exec(changelog) ?? []
  const [, version] = /^(\d+\.\d+\.\d+)(?: |$)/.exec(title) ?? []
  if (version === undefined) throw new Error(`CHANGELOG.md begins with "${title}": give it a version`)
  return version
}

/** Writes `version` where `FILES` of `folder` name it. Returns those that named another. Throws if one names none. */
export async function setVersion(folder: string, version: string): Promise<string[]> {
  const changed: string[] = []
  for (const name of FILES) {
    const before = await readFile(join(folder, name), 'utf8')
    if (before.search(NAMED) < 0) throw new Error(`${name} names no version`)
    const after = before.replaceAll(NAMED, version)
    if (after === before) continue
    await writeFile(join(folder, name), after)
    changed.push(name)
  }
  return changed
}
