/** The server and the operator's commands as one script, with all that they read beside themselves inside. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

export const ROOT = join(import.meta.dirname, '../..')

export interface Bundle {
  code: string
  /** Folders of the packages in it. */
  packages: string[]
}

/** `preload`: modules that run before the program's own, in its scope. */
export async function bundleServer(preload: string[] = []): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['build/executable/entry.ts'],
    inject: preload,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    // A single executable's main module.
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    // Only a checkout bundles pages; and node-postgres has a part that few have.
    external: ['vite', 'pg-native'],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.main': 'false' },
    plugins: [manifestInline(), hashAtOnce(), filesInline()],
  })
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  )
  return { code: outputFiles[0]!.text, packages: [...new Set(packages)].sort() }
}

/** In place of what package.json says of a checkout: the version, and what people type. */
function manifestInline(): Plugin {
  return {
    name: 'manifest-inline',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/node\/manifest\.ts$/ }, async () => {
        const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
        return {
          contents: `export const ROOT = __dirname
            export const VERSION = ${JSON.stringify(version)}
            export const OPERATOR = 'pinhole-server operator'
            export const commandFor = () => 'pinhole-server'`,
          loader: 'ts',
        }
      })
    },
  }
}

/** A CommonJS script can't wait while it is loaded: xxhash's module is compiled at once instead. */
function hashAtOnce(): Plugin {
  return {
    name: 'hash-at-once',
    setup({ onLoad }) {
      onLoad({ filter: /\/xxhash-wasm\/esm\/xxhash-wasm\.js$/ }, async ({ path }) => ({
        contents: swapped(await readFile(path, 'utf8'), [
          ['async function e()', 'function e()'],
          [
            '(await WebAssembly.instantiate(t)).instance',
            'new WebAssembly.Instance(new WebAssembly.Module(t))',
          ],
        ]),
      }))
      onLoad({ filter: /\/stores\/filesystem\/block-digests\.ts$/ }, async ({ path }) => ({
        contents: swapped(await readFile(path, 'utf8'), [['= await xxhash()', '= xxhash()']]),
        loader: 'ts',
      }))
    },
  }
}

/** Throws if the text has not each of them once. */
function swapped(text: string, pairs: [from: string, to: string][]): string {
  for (const [from, to] of pairs) {
    if (text.split(from).length !== 2) throw new Error(`not there once: ${from}`)
    text = text.replace(from, () => to)
  }
  return text
}

/** A file read by its address: `readFileSync(new URL('../package.json', import.meta.url), 'utf8')`. */
const READ =
  /readFileSync\(new URL\('([^']+)', (?:import\.meta\.url|import\.meta\.resolve\('([^']+)'\))\)(, 'utf8')?\)/g

/** Contents in place of reads: an executable has nothing beside it. */
function filesInline(): Plugin {
  return {
    name: 'files-inline',
    setup({ onLoad }) {
      onLoad({ filter: /\/(src|build)\/.*\.ts$/ }, async ({ path }) => {
        let code = await readFile(path, 'utf8')
        for (const [call, target = '', base, isText] of [...code.matchAll(READ)]) {
          const from = base === undefined ? path : createRequire(path).resolve(base)
          const file = resolve(dirname(from), target)
          const contents = isText
            ? JSON.stringify(await readFile(file, 'utf8'))
            : `Buffer.from('${await readFile(file, 'base64')}', 'base64')`
          code = code.replace(call, () => contents)
        }
        // Whatever else is found by an address would be missed only where it is used.
        const left = /import\.meta\.(?!dirname|main)\w+/.exec(code)
        if (left) throw new Error(`${path}: ${left[0]} means nothing in a single executable`)
        return { contents: code, loader: 'ts' }
      })
    },
  }
}
