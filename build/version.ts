/** A release's version: CHANGELOG.md is authoritative, and all other files follow it. */
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

/** The version in npm's two files, in the Helm chart, and in image names. */
const NAMED = /(?<="name": "pinhole",\s+"version": "|^(?:version|appVersion): |\/pinhole:)\d+\.\d+\.\d+/gm

/** The newest version in `changelog`. Throws if its first section is not a version yet. */
export function versionOf(changelog: string): string {
  const [, title = ''] = /^## (.*)$/m.exec(changelog) ?? []
  const [, version] = /^(\d+\.\d+\.\d+)(?: |$)/.exec(title) ?? []
  if (version === undefined) throw new Error(`CHANGELOG.md begins with "${title}": give it a version number`)
  return version
}

/** Updates `FILES` of `folder` to `version`. Returns the changed files. Throws if a file contains no version. */
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
