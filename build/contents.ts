/** What a release is made of besides its own sources: their licenses, and the list for programs that look for known faults (SBOM). */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

export interface Component {
  name: string
  version: string
  /** As SPDX says it. */
  license: string
  /** Package URL (https://github.com/package-url/purl-spec). */
  purl: string
  /** The license itself, if it came along. */
  text: string
}

/** `folders`: of packages, from the root of the repository. */
export function componentsOf(folders: string[]): Promise<Component[]> {
  return Promise.all(
    folders.map(async (folder) => {
      const { name, version, license } = JSON.parse(
        await readFile(join(ROOT, folder, 'package.json'), 'utf8'),
      )
      const texts: string[] = []
      for await (const file of glob('{LICENSE,LICENCE,license}*', { cwd: join(ROOT, folder) })) {
        texts.push(await readFile(join(ROOT, folder, file), 'utf8'))
      }
      return {
        name,
        version,
        license,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        text: texts.join('\n'),
      }
    }),
  )
}

/** Node, with all that is inside it: its license names them. */
export async function nodeComponent({
  version,
  license,
}: {
  version: string
  license: string
}): Promise<Component> {
  return {
    name: 'node',
    version,
    license: 'MIT',
    purl: `pkg:generic/node@${version}`,
    text: await readFile(license, 'utf8'),
  }
}

/** The licenses ask to be passed on. */
export async function licensesOf(components: Component[]): Promise<string> {
  const parts = components.map(
    ({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}`,
  )
  return [await readFile(join(ROOT, 'LICENSE'), 'utf8'), ...parts]
    .map((text) => text.trim())
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

/** CycloneDX 1.6, as JSON. Without a time and a random number: the same contents give the same bytes. */
export function bomOf(name: string, version: string, components: Component[]): string {
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components: components.map(({ name, version, license, purl }) => ({
      type: 'library',
      name,
      version,
      purl,
      licenses: [{ expression: license }],
    })),
  }
  return `${JSON.stringify(bom, null, 2)}\n`
}
