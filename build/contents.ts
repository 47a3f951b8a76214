/** Licenses and SBOMs (software bills of materials) of the third-party components in a release. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './packages/paths.ts'

export interface Component {
  name: string
  version: string
  /** SPDX expression. */
  license: string
  /** Package URL (https://github.com/package-url/purl-spec). */
  purl: string
  /** The license text, if the package includes it. */
  text: string
}

/** `folders`: package folders, relative to the repository's root. */
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

/** Node. Its license file covers its bundled components. */
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

/** The license texts, which must be distributed with the components. */
export async function licensesOf(components: Component[]): Promise<string> {
  const parts = components.map(
    ({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}`,
  )
  return [await readFile(join(ROOT, 'LICENSE'), 'utf8'), ...parts]
    .map((text) => text.trim())
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

/** CycloneDX 1.6, as JSON. Omits the time and the random serial number, for reproducible output. */
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
