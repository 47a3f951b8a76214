/** Builds the client's package: the SDK and the command, compiled. Contains only modules that its entry points import. */
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createProgram } from '../../src/cli.ts'
import { compile } from './compile.ts'
import { copy, finish } from './finish.ts'
import { manPage } from './man-page.ts'
import { copyParts } from './parts.ts'
import { manifest } from './paths.ts'
import { buildWorker } from './worker.ts'

/** Specifiers of imports, exports, dynamic imports, workers, and types in declarations. */
const REFERENCE =
  /(?:\bfrom\s*|(?<![.\w])import\s*\(?\s*|new URL\(\s*|import\.meta\.resolve\(\s*|loadWasm\(\s*)['"]([@\w./-]+)['"]/g

const ENTRIES = [
  'cli.js',
  'client/node.js',
  'client/browser.js',
  'client/worker/browser-worker.js',
  'client/worker/node-worker.js',
]

/** Packages bundled in part: most of their files are encoders or alternative builds of the same decoder. */
const PARTIALLY_BUNDLED = ['@jsquash/avif', '@jsquash/jxl', 'libheif-js']

/** Builds the package in `folder`. Resolves to the names of its dependencies. */
export async function buildClient(folder: string): Promise<string[]> {
  const name = manifest.packages.client
  const { dependencies, imported } = await compiledTo(join(folder, 'lib'))
  for (const name of PARTIALLY_BUNDLED) await copyParts(name, imported.get(name)!, folder)
  await buildWorker(join(folder, 'worker'))
  await mkdir(join(folder, 'man'))
  await writeFile(join(folder, 'man/pinhole.1'), manPage(createProgram(), manifest.version))
  await finish(folder, name, ['bin/pinhole.mjs', 'examples', 'docs/client.md'], 'client.md', {
    description:
      'Pinhole: compress pictures, upload them, get links. The command, and the SDK for browsers and Node.',
    engines: { node: '>=22' },
    bin: { pinhole: 'bin/pinhole.mjs' },
    man: ['./man/pinhole.1'],
    exports: {
      './client': {
        browser: { types: './lib/client/browser.d.ts', default: './lib/client/browser.js' },
        default: { types: './lib/client/node.d.ts', default: './lib/client/node.js' },
      },
      './worker.js': './worker/worker.js',
      './package.json': './package.json',
    },
    sideEffects: ['./lib/client/worker/*-worker.js', './worker/*.js'],
    files: ['bin', 'lib', 'worker', 'man', 'docs', 'examples', 'CHANGELOG.md'],
    dependencies,
    bundleDependencies: PARTIALLY_BUNDLED,
  })
  return Object.keys(dependencies)
}

interface Requirements {
  /** Packages, with their versions. */
  dependencies: Record<string, string>
  /** Imported files, by package. */
  imported: Map<string, Set<string>>
}

/** Copies all modules reachable from the entry points into the folder `to`. */
async function compiledTo(to: string): Promise<Requirements> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-lib-'))
  const lib = temporary.path
  await compile(lib)
  const { modules, ...requirements } = await reachable(lib, ENTRIES)
  for (const file of modules) {
    for (const path of [file, file.replace(/\.js$/, '.d.ts')]) await copy(join(lib, path), join(to, path))
  }
  return requirements
}

/** The files of `lib` reachable from `entries`, and the packages that they import. */
async function reachable(lib: string, entries: string[]): Promise<Requirements & { modules: string[] }> {
  const modules = new Set(entries)
  const dependencies: Record<string, string> = {}
  const imported = new Map<string, Set<string>>()
  for (const file of modules) {
    const texts = await Promise.all(
      [file, file.replace(/\.js$/, '.d.ts')].map((path) => readFile(join(lib, path), 'utf8')),
    )
    for (const [, target = ''] of texts.join('\n').matchAll(REFERENCE)) {
      if (target.startsWith('.')) {
        const path = relative(lib, join(lib, dirname(file), target))
        // Files outside `lib` are not compiled modules: the package.json, the page assets.
        if (path.endsWith('.js') && !path.startsWith('..')) modules.add(path)
      } else if (!target.startsWith('node:')) {
        const name = target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/')
        // The package's own name appears in code samples.
        if (name === manifest.packages.client) continue
        const range = manifest.dependencies[name]
        if (range === undefined) throw new Error(`${file} imports ${target}, which is not a dependency`)
        dependencies[name] = range
        const files = imported.get(name) ?? new Set()
        imported.set(name, files.add(target.slice(name.length + 1)))
      }
    }
  }
  return {
    modules: [...modules].sort(),
    dependencies: Object.fromEntries(Object.entries(dependencies).sort()),
    imported,
  }
}
