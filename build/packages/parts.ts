/** Packages bundled into one of ours (npm's `bundleDependencies`), without the files that it never loads. */
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copy } from './finish.ts'
import { ROOT } from './paths.ts'

/** Fields of package.json to keep. No dependencies, because only omitted files import them. */
const KEPT_FIELDS = ['name', 'version', 'description', 'license', 'author', 'repository', 'homepage', 'type']

/** Copies `files` of the package `name`, with its licenses, to where the package in `folder` resolves them. */
export async function copyParts(name: string, files: Iterable<string>, folder: string): Promise<void> {
  const from = join(ROOT, 'node_modules', name)
  const to = join(folder, 'node_modules', name)
  const paths = new Set(['README.md'])
  for (const file of files) {
    paths.add(file)
    const declaration = file.replace(/\.js$/, '.d.ts')
    if (existsSync(join(from, declaration))) paths.add(declaration)
    for (let directory = dirname(file); ; directory = dirname(directory)) {
      for (const entry of await readdir(join(from, directory))) {
        if (entry.startsWith('LICENSE')) paths.add(join(directory, entry))
      }
      if (directory === '.') break
    }
  }
  for (const path of paths) await copy(join(from, path), join(to, path))
  const original = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'))
  const kept = Object.fromEntries(
    KEPT_FIELDS.filter((key) => key in original).map((key) => [key, original[key]]),
  )
  await writeFile(join(to, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`)
}
