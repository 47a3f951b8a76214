/**
 * `npm run packages`: the two packages that are published, as folders in `dist/packages/`: the client with the command,
 * and the server. Each holds what its entries import, and needs what that imports: nothing is listed by hand. Their
 * names stand in package.json.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { buildWorker } from './worker.ts'

const ROOT = join(import.meta.dirname, '..')
const LIB = join(ROOT, 'lib')
const OUT = join(ROOT, 'dist/packages')

/** Of imports, exports, dynamic imports, workers, and types in declarations. */
const REFERENCE =
  /(?:\bfrom\s*|(?<![.\w])import\s*\(?\s*|new URL\(\s*|import\.meta\.resolve\(\s*|loadWasm\(\s*)['"]([@\w./-]+)['"]/g

const root = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
const { packages } = root as { packages: { client: string; server: string } }

await import('./compile.ts')
await rm(OUT, { recursive: true, force: true })
await assemble(packages.client, {
  entries: [
    'cli.js',
    'client/node.js',
    'client/browser.js',
    'client/worker/browser-worker.js',
    'client/worker/node-worker.js',
  ],
  files: ['bin/pinhole.mjs'],
  manifest: {
    description:
      'Pinhole: compress pictures, upload them, get links. The command, and the SDK for browsers and Node.',
    engines: { node: '>=22' },
    bin: { pinhole: 'bin/pinhole.mjs' },
    exports: {
      './client': {
        browser: { types: './lib/client/browser.d.ts', default: './lib/client/browser.js' },
        default: { types: './lib/client/node.d.ts', default: './lib/client/node.js' },
      },
      './worker.js': './worker/worker.js',
      './package.json': './package.json',
    },
    sideEffects: ['./lib/client/worker/*-worker.js', './worker/*.js'],
    files: ['bin', 'lib', 'worker'],
  },
})
await buildWorker(join(OUT, packages.client, 'worker'))
await assemble(packages.server, {
  entries: ['node.js', 'node/operator.js'],
  files: ['bin/serve.mjs', 'dist/web'],
  manifest: {
    description: root.description,
    engines: root.engines,
    bin: { [packages.server]: 'bin/serve.mjs' },
    exports: { './bin/serve.mjs': './bin/serve.mjs', './package.json': './package.json' },
    files: ['bin', 'lib', 'dist/web'],
  },
})

interface Contents {
  /** In `lib`. */
  entries: string[]
  files: string[]
  manifest: object
}

async function assemble(name: string, { entries, files, manifest }: Contents): Promise<void> {
  const folder = join(OUT, name)
  const { modules, dependencies } = await reachable(entries)
  for (const file of modules) {
    for (const path of [file, file.replace(/\.js$/, '.d.ts')])
      await copy(join(LIB, path), join(folder, 'lib', path))
  }
  for (const file of [...files, 'LICENSE', 'CHANGELOG.md', 'README.md'])
    await copy(join(ROOT, file), join(folder, file))
  const { version, license } = root
  const text = JSON.stringify(
    {
      name,
      version,
      license,
      type: 'module',
      ...manifest,
      packages,
      // Signed by the CI that builds it (npm provenance).
      publishConfig: { access: 'public', provenance: true },
      dependencies,
    },
    null,
    2,
  )
  await writeFile(join(folder, 'package.json'), `${text}\n`)
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, { recursive: true })
}

/** Files of `lib` that `entries` lead to, and the packages that they name. */
async function reachable(entries: string[]) {
  const modules = new Set(entries)
  const dependencies: Record<string, string> = {}
  for (const file of modules) {
    const texts = await Promise.all(
      [file, file.replace(/\.js$/, '.d.ts')].map((path) => readFile(join(LIB, path), 'utf8')),
    )
    for (const [, target = ''] of texts.join('\n').matchAll(REFERENCE)) {
      if (target.startsWith('.')) {
        const path = relative(LIB, join(LIB, dirname(file), target))
        // Not what lies beside `lib`: the package's own description, the pages' files.
        if (path.endsWith('.js') && !path.startsWith('..')) modules.add(path)
      } else if (!target.startsWith('node:')) {
        const name = target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/')
        // What only a checkout does, e.g. bundling the pages anew.
        if (root.devDependencies[name] !== undefined) continue
        // In samples of code.
        if (name === packages.client) continue
        const range = root.dependencies[name]
        if (range === undefined) throw new Error(`${file} imports ${target}, which is no dependency`)
        dependencies[name] = range
      }
    }
  }
  return {
    modules: [...modules].sort(),
    dependencies: Object.fromEntries(Object.entries(dependencies).sort()),
  }
}
