/** Bundles the server and the operator's commands into one script, including all files that they read from their package. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { ROOT } from '../packages/paths.ts'

export interface Bundle {
  code: string
  /** Folders of the bundled packages. */
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
    // The main module of a single executable must be CommonJS.
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    // Only a checkout bundles pages, and node-postgres has an optional native part.
    external: ['vite', 'pg-native'],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.main': 'false' },
    plugins: [manifestInline(), synchronousHash(), filesInline()],
  })
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  )
  return { code: outputFiles[0]!.text, packages: [...new Set(packages)].sort() }
}

/** Replaces values that are read from a checkout's package.json: the version, and the commands that users type. */
function manifestInline(): Plugin {
  return {
    name: 'manifest-inline',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/node\/manifest\.ts$/ }, async () => {
        const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
        return {
          contents: `import { existsSync } from 'node:fs'
            import { dirname, join } from 'node:path'
            export const ROOT = __dirname
            export const VERSION = ${JSON.stringify(version)}
            // Beside it, the Debian package has a command that reads the service's settings.
            const hasOperator = existsSync(join(dirname(process.execPath), 'pinhole-operator'))
            export const OPERATOR = hasOperator ? 'pinhole-operator' : 'pinhole-server operator'
            export const commandFor = () => 'pinhole-server'`,
          loader: 'ts',
        }
      })
    },
  }
}

/** A CommonJS script can't await while it loads, so xxhash's module is compiled synchronously. */
function synchronousHash(): Plugin {
  return {
    name: 'synchronous-hash',
    setup({ onLoad }) {
      onLoad({ filter: /\/xxhash-wasm\/esm\/xxhash-wasm\.js$/ }, async ({ path }) => ({
        contents: replaceOnce(await readFile(path, 'utf8'), [
          ['async function e()', 'function e()'],
          [
            '(await WebAssembly.instantiate(t)).instance',
            'new WebAssembly.Instance(new WebAssembly.Module(t))',
          ],
        ]),
      }))
      onLoad({ filter: /\/stores\/filesystem\/block-digests\.ts$/ }, async ({ path }) => ({
        contents: replaceOnce(await readFile(path, 'utf8'), [['= await xxhash()', '= xxhash()']]),
        loader: 'ts',
      }))
    },
  }
}

/** Throws unless each `from` occurs exactly once. */
function replaceOnce(text: string, pairs: [from: string, to: string][]): string {
  for (const [from, to] of pairs) {
    if (text.split(from).length !== 2) throw new Error(`expected exactly once: ${from}`)
    text = text.replace(from, () => to)
  }
  return text
}

/** A file read by URL: `readFileSync(new URL('../package.json', import.meta.url), 'utf8')`. */
const READ =
  /readFileSync\(new URL\('([^']+)', (?:import\.meta\.url|import\.meta\.resolve\('([^']+)'\))\)(, 'utf8')?\)/g

/** Inlines such files: an executable has no files beside it. */
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
        // Any other use of the module's URL would only fail at run time.
        const unsupported = /import\.meta\.(?!dirname|main)\w+/.exec(code)
        if (unsupported) throw new Error(`${path}: ${unsupported[0]} does not work in a single executable`)
        return { contents: code, loader: 'ts' }
      })
    },
  }
}
