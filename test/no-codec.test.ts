/** The server never decodes pixels: nothing in its dependency graph could. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { test } from 'node:test'
import { glob } from 'tinyglobby'
import { build } from 'vite'

const ROOT = resolve(import.meta.dirname, '..')
const ENTRY = 'src/node.ts'

/** Packages with native or WebAssembly code: only a hash function. SQLite is built into Node. */
const COMPILED = ['xxhash-wasm']
/** Builds the pages in development; an installed server ships with built pages. */
const BUILDERS = ['vite']

const CODECS =
  /sharp|jsquash|squoosh|codec|canvas|jimp|vips|heif|imagemagick|graphicsmagick|\bu?(png|jpe?g|webp|avif|gif)/i

interface Graph {
  /** Absolute paths. */
  files: string[]
  /** Imports that are not followed: names of packages and built-in modules. */
  outside: string[]
}

/** All static and dynamic imports of `entry`, resolved like a bundler does. */
async function importGraph(entry: string, unfollowed: string[]): Promise<Graph> {
  const ids = new Set<string>()
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'silent',
    ssr: { noExternal: true, external: unfollowed },
    build: { ssr: join(ROOT, entry), write: false, minify: false },
    plugins: [
      {
        name: 'graph',
        buildEnd() {
          for (const id of this.getModuleIds()) ids.add(id.split('?')[0]!)
        },
      },
    ],
  })
  const followed = [...ids].filter((id) => id.startsWith(`${ROOT}/`))
  return { files: followed, outside: [...ids].filter((id) => !id.startsWith('/') && !id.startsWith('\0')) }
}

/** Folder of the package that a file belongs to. `null` for the project's own files. */
function packageOf(file: string): string | null {
  const parts = file.split('/node_modules/')
  const inside = parts.pop()!
  if (parts.length === 0) return null
  const [scope, name] = inside.split('/')
  return join(parts.join('/node_modules/'), 'node_modules', scope!, scope!.startsWith('@') ? name! : '')
}

function nameOf(folder: string): string {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name
}

const { files, outside } = await importGraph(ENTRY, BUILDERS)
const packages = [...new Set(files.map(packageOf))].filter((folder) => folder !== null)

test('follows the whole import graph', () => {
  for (const file of ['src/formats/inspect.ts', 'src/formats/jpeg/walk.ts', 'src/service']) {
    assert.ok(
      files.some((path) => path.startsWith(join(ROOT, file))),
      file,
    )
  }
  assert.ok(packages.some((folder) => basename(folder) === 'hono'))
  const optional = (id: string) => id.startsWith('__vite-optional-peer-dep:')
  const unknown = outside.filter((id) => !isBuiltin(id) && !BUILDERS.includes(id) && !optional(id))
  assert.deepEqual(unknown, [], 'every import is resolved')
})

test('contains no client code, which has codecs', () => {
  assert.deepEqual(
    files.filter((file) => /^src\/(client|cli)\//.test(file.slice(ROOT.length + 1))),
    [],
  )
})

test('contains no image codec package', () => {
  const names = [...packages.map(nameOf), ...outside]
  assert.deepEqual(
    names.filter((name) => CODECS.test(name)),
    [],
  )
})

test('contains no package with native or WebAssembly code, except for a hash function', async () => {
  const compiled: string[] = []
  for (const folder of packages) {
    const found = await glob(['**/*.{node,wasm}', '**/binding.gyp'], { cwd: folder, dot: true })
    if (found.length > 0) compiled.push(nameOf(folder))
  }
  assert.deepEqual(
    compiled.filter((name) => !COMPILED.includes(name)),
    [],
  )
  assert.deepEqual(
    files.filter((file) => /\.(node|wasm)$/.test(file)),
    [],
  )
})

test('the server itself uses neither WebAssembly nor decoders of the runtime', () => {
  const own = files.filter((file) => packageOf(file) === null)
  assert.ok(own.length > 50)
  for (const file of own) {
    const text = readFileSync(file, 'utf8')
    assert.doesNotMatch(text, /\b(WebAssembly|createImageBitmap|ImageDecoder|process\.dlopen)\b/, file)
  }
})

test('would detect a codec', async () => {
  const graph = await importGraph('test/support/images/pictures.ts', ['sharp'])
  assert.ok(graph.outside.some((id) => CODECS.test(id)))
})
