/** Builds the server's package: a bundle with all dependencies, so that installing it fetches nothing else. */
import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { finish } from './finish.ts'
import { manifest, ROOT } from './paths.ts'

/** Only used in a checkout, which builds its own pages. */
const EXTERNAL = ['vite']

/** The package's commands. */
const COMMANDS = { server: 'bin/serve.mjs', operator: 'bin/operator.mjs' }

/** Builds the package in `folder`. Resolves to the folders of the bundled packages, relative to the repository's root. */
export async function buildServer(folder: string): Promise<string[]> {
  const name = manifest.packages.server
  const bundled = await bundleServer(folder)
  await finish(folder, name, [...Object.values(COMMANDS), 'bin/tuning.mjs', 'dist/web'], 'server.md', {
    description: manifest.description,
    engines: manifest.engines,
    bin: { [name.replace(/^.*\//, '')]: COMMANDS.server, 'pinhole-operator': COMMANDS.operator },
    exports: { './bin/serve.mjs': './bin/serve.mjs', './package.json': './package.json' },
    files: ['bin', 'lib', 'dist/web', 'CHANGELOG.md', 'THIRD-PARTY-LICENSES.md'],
  })
  return bundled
}

/**
 * Bundles the server and the operator's commands to `lib/server` in `folder`, with the licenses of the bundled packages.
 * Resolves to the folders of those packages, relative to the repository's root.
 */
async function bundleServer(folder: string): Promise<string[]> {
  const packages = new Set<string>()
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, external: EXTERNAL },
    plugins: [{ name: 'packages', generateBundle: (_, bundle) => collect(bundle, packages) }],
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 10_000,
      license: { fileName: 'THIRD-PARTY-LICENSES.md' },
      rolldownOptions: {
        input: {
          node: join(ROOT, 'src/node.ts'),
          operator: join(ROOT, 'src/node/operator.ts'),
        },
        output: {
          entryFileNames: 'lib/server/[name].js',
          chunkFileNames: 'lib/server/[name]-[hash].js',
        },
        checks: { pluginTimings: false },
      },
    },
  })
  return [...packages].sort()
}

function collect(bundle: Rolldown.OutputBundle, packages: Set<string>): void {
  for (const output of Object.values(bundle)) {
    if (output.type !== 'chunk') continue
    for (const id of output.moduleIds) {
      const [path] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\0', '')) ?? []
      if (path !== undefined) packages.add(path.slice(ROOT.length + 1))
    }
  }
}
