/** Packages that go along in one of ours (`bundleDependencies` of npm), without the files that it never loads. */
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copy } from './finish.ts'
import { ROOT } from './paths.ts'

/** Fields of its package.json that are kept. No dependencies: only files that are left out import them. */
const DESCRIBED = ['name', 'version', 'description', 'license', 'author', 'repository', 'homepage', 'type']

/** Copies `files` of the package `name` to where the package in `folder` looks for it, with its licenses. */
export async function copyParts(name: string, files: Iterable<string>, folder: string): Promise<void> {
  const from = join(ROOT, 'node_modules', name)
  const to = join(folder, 'node_modules', name)
  const paths = new Set(['README.md'])
  for (const file of files) {
    paths.add(file)
    const declaration = file.replace(/\.js$/, '.d.ts')
    if (existsSync(join(from, declaration))) paths.add(declaration)
    for (let place = dirname(file); ; place = dirname(place)) {
      for (const entry of await readdir(join(from, place))) {
        if (entry.startsWith('LICENSE')) paths.add(join(place, entry))
      }
      if (place === '.') break
    }
  }
  for (const path of paths) await copy(join(from, path), join(to, path))
  const whole = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'))
  const told = Object.fromEntries(DESCRIBED.filter((key) => key in whole).map((key) => [key, whole[key]]))
  await writeFile(join(to, 'package.json'), `${JSON.stringify(told, null, 2)}\n`)
}
