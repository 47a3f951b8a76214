/** The server never decodes pixels: neither its own code nor any package that it needs could. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { glob } from 'tinyglobby'
import { allImports, reachedFrom } from './support/imports.ts'
import { ROOT } from './support/processes/process.ts'

/** Packages with native or WebAssembly code: only a hash function. SQLite is built into Node. */
const COMPILED = ['node_modules/xxhash-wasm']
/** Builds the pages in development; an installed server ships with built pages. */
const BUILDER = 'node_modules/vite'

const CODECS =
  /sharp|jsquash|squoosh|codec|canvas|jimp|vips|heif|imagemagick|graphicsmagick|\bu?(png|jpe?g|webp|avif|gif)/i

interface Locked {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const locked: Record<string, Locked> = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
).packages
const imports = await allImports()

/** The files that `entry` imports, directly or transitively, and the folders of the packages that they and those need. */
function graphOf(entry: string): { files: string[]; folders: string[] } {
  const reached = [...reachedFrom(entry, imports)]
  const files = reached.filter((to) => to.startsWith('src/'))
  const folders = new Set<string>()
  for (const to of reached) {
    const [scope, name] = to.split('/')
    const folder = `node_modules/${scope!.startsWith('@') ? `${scope}/${name}` : scope}`
    if (!to.startsWith('src/') && !isBuiltin(to) && folder !== BUILDER) folders.add(folder)
  }
  for (const folder of folders) {
    const { dependencies, optionalDependencies } = locked[folder]!
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const nested = `${folder}/node_modules/${name}`
      folders.add(nested in locked ? nested : `node_modules/${name}`)
    }
  }
  return { files, folders: [...folders] }
}

const { files, folders } = graphOf('src/node.ts')

test('the graph is complete', () => {
  for (const file of ['src/formats/inspect.ts', 'src/formats/jpeg/walk.ts', 'src/service/images/images.ts'])
    assert.ok(files.includes(file), file)
  assert.ok(folders.includes('node_modules/hono') && folders.includes('node_modules/pg-protocol'))
  assert.ok(
    graphOf('src/cli.ts').folders.some((folder) => CODECS.test(folder)),
    'a codec would be detected',
  )
})

test('contains no client code, which has codecs', () => {
  assert.deepEqual(
    files.filter((file) => /^src\/(client|cli)\//.test(file)),
    [],
  )
})

test('contains no image codec package', () => {
  assert.deepEqual(
    folders.filter((folder) => CODECS.test(folder)),
    [],
  )
})

test('contains no package with native or WebAssembly code, except for a hash function', async () => {
  for (const folder of folders.filter((folder) => !COMPILED.includes(folder))) {
    const cwd = join(ROOT, folder)
    assert.deepEqual(await glob(['**/*.{node,wasm}', '**/binding.gyp'], { cwd, dot: true }), [], folder)
  }
})

test('the server itself uses neither WebAssembly nor decoders of the runtime', () => {
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    assert.doesNotMatch(text, /\b(WebAssembly|createImageBitmap|ImageDecoder|process\.dlopen)\b/, file)
  }
})
