import assert from 'node:assert/strict'
import { it } from 'node:test'
import { allImports, type Import, importsOf, reachable } from './support/imports.ts'

const PORTS = /^src\/(stores\/(object-store|ledger)|cdn\/cdn)\.ts$/

/** By what follows `src/`, the first that matches. What a layer may import besides itself. */
const LAYERS: { layer: RegExp; may: RegExp[]; types?: RegExp[] }[] = [
  { layer: /^(errors|protocol)\.ts$/, may: [] },
  {
    layer: /^(stores\/(object-store|ledger)|cdn\/cdn)\.ts$/,
    may: [],
    types: [/^src\/formats\/image\.ts$/, /^src\/protocol\.ts$/],
  },
  { layer: /^formats\//, may: [/^src\/(errors|protocol)\.ts$/] },
  {
    layer: /^stores\/(filesystem|folder|hot|spool|s3|sql|sqlite|postgres|r2|d1)[\w-]*\.ts$/,
    may: [
      /^src\/stores\/(object-store|ledger)\.ts$/,
      /^src\/(errors|protocol)\.ts$/,
      /^src\/formats\/image\.ts$/,
      /^(better-sqlite3|pg|aws4fetch)(\/|$)/,
    ],
  },
  { layer: /^cdn\//, may: [PORTS, /^src\/(errors|protocol)\.ts$/] },
  {
    layer: /^service\//,
    may: [PORTS, /^src\/formats\//, /^src\/(errors|protocol)\.ts$/],
  },
  {
    layer: /^http\//,
    // Of a port: its errors and shapes. They name no technology.
    may: [PORTS, /^src\/(service|web)\//, /^src\/(errors|protocol)\.ts$/, /^(hono|ipaddr\.js)(\/|$)/],
  },
  {
    layer: /^client\//,
    may: [/^src\/formats\//, /^src\/(errors|protocol)\.ts$/, /^@jsquash\//],
  },
  {
    layer: /^web\//,
    may: [/^src\/(client|formats)\//, /^src\/(errors|protocol)\.ts$/, /^(hono|uqr|@jsquash)(\/|$)/],
    types: [PORTS],
  },
  {
    layer: /^cli(\.ts$|\/)/,
    may: [/^src\/(client|formats)\//, /^src\/(errors|protocol)\.ts$/, /^[^./]/],
  },
  { layer: /^config\.ts$/, may: [/^src\/(errors|protocol)\.ts$/] },
  { layer: /^(node|worker)(\.ts$|\/)/, may: [/^src\/(?!cli\/)/, /^[^./]/] },
]

/** Where modules of Node may be used: its host, the adapters that are for it alone, the SDK's entry for it, the CLI. */
const NODE_ONLY =
  /^src\/(node\.ts$|node\/|cli\.ts$|cli\/|client\/node[\w-]*\.ts$|stores\/(filesystem|folder|hot|spool|sqlite|postgres)[\w-]*\.ts$)/

function faultOf({ from, to, typeOnly }: Import): string | null {
  const path = from.replace('src/', '')
  if (to.startsWith('node:') || to === 'pg' || to === 'better-sqlite3') {
    return NODE_ONLY.test(from) ? null : `${from} imports ${to}, but runs elsewhere too`
  }
  const rule = LAYERS.find(({ layer }) => layer.test(path))
  if (!rule) return `${from} is in no layer`
  const own = path.includes('/') ? `src/${path.slice(0, path.indexOf('/') + 1)}` : null
  // Technologies beside each other share nothing but what their port and their own files hold.
  if (own && own !== 'src/stores/' && own !== 'src/cdn/' && to.startsWith(own)) return null
  if (own === 'src/stores/' && technologyOf(from) === technologyOf(to)) return null
  if (own === 'src/cdn/' && !PORTS.test(to) && rule.layer.test(to.replace('src/', ''))) return null
  const allowed = [...rule.may, ...(typeOnly ? (rule.types ?? []) : [])]
  if (allowed.some((pattern) => pattern.test(to))) return null
  return `${from} imports ${typeOnly ? 'types of ' : ''}${to}`
}

/** Files of one technology in `src/stores/`. */
function technologyOf(file: string): string | undefined {
  const first = /^src\/stores\/([a-z0-9]+)/.exec(file)?.[1]
  if (/^(filesystem|folder|hot|spool)$/.test(first ?? '')) return 'filesystem'
  if (/^(sql|sqlite|postgres|d1)$/.test(first ?? '')) return 'sql'
  return first
}

it('keeps every layer to what it may import', async () => {
  const imports = await allImports()
  assert.ok(imports.length > 100, 'the sources are found')
  assert.deepEqual(
    imports.map(faultOf).filter((fault) => fault !== null),
    [],
  )
})

it('imports files by their whole name', async () => {
  const imports = (await allImports()).filter(({ to }) => to.startsWith('src/'))
  assert.deepEqual(
    imports.filter(({ to }) => !/\.(ts|css|json)$/.test(to)),
    [],
  )
})

it('decodes no image in the server', async () => {
  const imports = await allImports()
  const loaded = reachable('src/node.ts', imports)
  assert.ok(loaded.has('src/formats/inspect.ts') && loaded.has('hono'), 'the graph is followed')
  const codecs = [...loaded].filter((to) =>
    /sharp|@jsquash|codec|canvas|jimp|libvips|pngjs|jpeg-js/i.test(to),
  )
  assert.deepEqual(codecs, [])
  assert.deepEqual(
    [...loaded].filter((to) => to.startsWith('src/client/') || to.startsWith('src/cli/')),
    [],
  )
})

it('sees what it is there to see', () => {
  const faults = (from: string, text: string) => importsOf(from, text).map(faultOf).filter(Boolean)
  const wrong: [from: string, text: string][] = [
    ['src/service/images.ts', "import { openFilesystem } from '../stores/filesystem.ts'"],
    ['src/service/images.ts', "import { Hono } from 'hono'"],
    ['src/http/upload.ts', "import {\n  openFilesystem,\n} from '../stores/filesystem.ts'"],
    ['src/web/viewer-page.ts', "import { resolveRange } from '../stores/object-store.ts'"],
    ['src/http/upload.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/http/upload.ts', "const fs = await import('node:fs')"],
    ['src/formats/png.ts', "import { inflateSync } from 'node:zlib'"],
    ['src/formats/png.ts', "export { a } from '../service/images.ts'"],
    ['src/formats/png.ts', "import '../service/images.ts'"],
    ['src/stores/s3.ts', "import { spool } from './spool.ts'"],
    ['src/stores/sqlite.ts', "import { open } from './filesystem.ts'"],
    ['src/protocol.ts', "import type { Refusal } from './errors.ts'"],
    ['src/stores/ledger.ts', "import { IMAGE_TYPES } from '../protocol.ts'"],
    ['src/client/upload.ts', "import { createImages } from '../service/images.ts'"],
    ['src/client/engine.ts', "const worker = new URL('../node/server.ts', import.meta.url)"],
    ['src/elsewhere/new.ts', "import { a } from '../errors.ts'"],
  ]
  for (const [from, text] of wrong) assert.equal(faults(from, text).length, 1, `${from}: ${text}`)
  const right: [from: string, text: string][] = [
    ['src/web/viewer-page.ts', "import { type A, type B } from '../stores/object-store.ts'"],
    ['src/service/images.ts', "import { IdTaken, type Draft } from '../stores/object-store.ts'"],
    ['src/node.ts', "const { main } = await import('./node/main.ts')"],
    ['src/formats/png.ts', "/* import { a } from '../http/app.ts' */\n// import 'node:fs'"],
  ]
  for (const [from, text] of right) assert.deepEqual(faults(from, text), [], text)
})
