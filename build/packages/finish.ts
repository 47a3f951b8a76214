/** The common parts of both packages: package.json, README, license and changelog. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { manifest, ROOT, specOf } from './paths.ts'

/**
 * Copies `files` of the repository into the package's `folder`, and writes its package.json and README.md. `readme`: a template
 * beside this file, with names and versions as `{{client}}`, `{{server}}`, `{{version}}`; npm's install arguments as
 * `{{install client}}`, `{{install server}}`; and the command that runs the server from npm as `{{run server}}`.
 */
export async function finish(
  folder: string,
  name: string,
  files: string[],
  readme: string,
  more: object,
): Promise<void> {
  for (const file of [...files, 'LICENSE', 'CHANGELOG.md']) await copy(join(ROOT, file), join(folder, file))
  const text = await readFile(join(import.meta.dirname, readme), 'utf8')
  await writeFile(join(folder, 'README.md'), fillTemplate(text))
  const { version, license, repository, packages } = manifest
  const content = {
    name,
    version,
    license,
    ...(repository !== undefined && { repository }),
    type: 'module',
    ...more,
    packages,
    // Signed by the CI job that builds it (npm provenance).
    publishConfig: { access: 'public', provenance: true },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

function fillTemplate(text: string): string {
  const { packages, version } = manifest
  const run = manifest.published ? packages.server : `--package ${specOf(packages.server)} ${packages.server}`
  const values: Record<string, string> = {
    ...packages,
    version,
    'install client': specOf(packages.client),
    'install server': specOf(packages.server),
    'run server': `npx ${run}`,
  }
  return text.replaceAll(/\{\{([\w ]+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`unknown placeholder {{${name}}}`)
    return value
  })
}

export async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, { recursive: true })
}
