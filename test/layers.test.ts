import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { it } from 'node:test'
import { allImports, type Import, importsOf, reachedFrom } from './support/imports.ts'

/** What every layer may import: timing, bytes, JSON, lifetimes, error codes, the protocol. */
const BASE = [
  'async.ts',
  'bytes.ts',
  'errors.ts',
  'json.ts',
  'lifetimes.ts',
  'protocol.ts',
  'retry-after.ts',
  'utc-day.ts',
]

/** Ports: interfaces with their types and errors, independent of any technology. */
const PORTS = [
  ...globSync('stores/*.ts', { cwd: 'src' }),
  'cdn/cdn.ts',
  'notify/notifier.ts',
  'scan/scanner.ts',
]

interface Layer {
  /** Files, folders (ending with a slash) and packages it may import, besides itself. */
  may: string[]
  /** Likewise, for type-only imports. */
  types?: string[]
  /** Whether it may use Node's modules, and packages that do. */
  node?: boolean
}

/** All server code. */
const SERVER = [
  'problems.ts',
  'cdn/',
  'notify/',
  'scan/',
  'formats/',
  'http/',
  'openapi.ts',
  'service/',
  'stores/',
  'web/',
  'wiring/',
]

/** By folder or file under `src/`. A file belongs to the layer with the longest matching path. */
const LAYERS: Record<string, Layer> = {
  ...Object.fromEntries([...BASE, ...PORTS].map((path) => [path, { may: [] }])),
  'proof-of-work.ts': { may: [], types: ['protocol.ts'] },
  'errors.ts': { may: [], types: ['protocol.ts'] },
  'problems.ts': { may: ['errors.ts', 'lifetimes.ts', 'protocol.ts'] },
  'config.ts': { may: BASE },
  'stores/object-store.ts': { may: ['protocol.ts'], types: ['formats/image.ts'] },
  'stores/ledger.ts': { may: [], types: ['protocol.ts', ...PORTS] },
  'stores/decisions.ts': { may: [], types: ['stores/holds.ts'] },
  'stores/tombstones.ts': { may: [], types: ['stores/holds.ts'] },
  'cdn/cdn.ts': { may: ['protocol.ts'] },

  'formats/': { may: BASE },

  'stores/disk/': { may: [], node: true },
  'stores/drafts/draft.ts': { may: [...BASE, ...PORTS, 'formats/image.ts'] },
  'stores/drafts/': { may: [...BASE, ...PORTS, 'formats/image.ts', 'stores/drafts/draft.ts'], node: true },
  'stores/filesystem/': {
    may: [...BASE, ...PORTS, 'formats/image.ts', 'stores/disk/', 'stores/drafts/', 'xxhash-wasm'],
    node: true,
  },
  'stores/bucket/': { may: [...BASE, ...PORTS, 'formats/image.ts', 'stores/drafts/draft.ts'] },
  'stores/s3/': {
    may: [
      ...BASE,
      ...PORTS,
      'formats/image.ts',
      'stores/bucket/',
      'stores/disk/',
      'stores/drafts/draft.ts',
      'undici',
    ],
    node: true,
  },
  'stores/r2/': { may: [...BASE, ...PORTS, 'formats/image.ts', 'stores/bucket/', 'stores/drafts/draft.ts'] },
  'stores/sql/': { may: [...BASE, ...PORTS] },
  'stores/private/': { may: [...BASE, 'stores/ledger.ts', 'stores/disk/'], node: true },
  'stores/sqlite/': {
    may: [...BASE, ...PORTS, 'stores/sql/', 'stores/private/', 'stores/disk/'],
    node: true,
  },
  'stores/d1/': { may: [...BASE, ...PORTS, 'stores/sql/'] },
  'stores/postgres/': { may: [...BASE, ...PORTS, 'stores/sql/', 'stores/private/', 'pg'], node: true },
  'cdn/': { may: [...BASE, ...PORTS] },
  'notify/': { may: [...BASE, ...PORTS] },
  'scan/': { may: [...BASE, ...PORTS] },
  'notify/smtp.ts': { may: [...BASE, ...PORTS, 'notify/addresses.ts', 'nodemailer'], node: true },

  'service/': { may: [...BASE, ...PORTS, 'formats/', 'proof-of-work.ts'] },
  'openapi.ts': { may: [...BASE, 'problems.ts', 'service/moderation/report-categories.ts'] },
  'http/': { may: [...BASE, ...PORTS, 'problems.ts', 'openapi.ts', 'service/', 'web/', 'hono', 'ipaddr.js'] },

  'client/': { may: [...BASE, 'formats/', 'proof-of-work.ts', '@jsquash', 'libheif-js'] },
  'client/node.ts': { may: [...BASE, 'formats/', 'proof-of-work.ts', 'client/'], node: true },
  'client/worker/node-host.ts': { may: ['client/'], node: true },
  'client/worker/node-worker.ts': { may: ['client/'], node: true },
  'web/': {
    may: [...BASE, 'client/', 'formats/', 'hono', 'client-zip', 'uqr', '@jsquash', 'libheif-js'],
    types: [...PORTS, 'openapi.ts'],
  },
  'cli/': { may: [...BASE, 'client/', 'formats/', '*'], node: true },
  'cli.ts': { may: ['cli/', '*'], node: true },

  'wiring/': {
    may: [...BASE, ...PORTS, 'config.ts', 'service/', 'scan/'],
    types: ['http/log.ts'],
  },
  'node/': { may: [...BASE, 'config.ts', ...SERVER, '*'], node: true },
  'node.ts': { may: ['node/'], node: true },
  'worker/': { may: [...BASE, 'config.ts', ...SERVER, '@noble/hashes'] },
  'worker.ts': { may: ['worker/', 'service/', 'stores/'] },
}

/** The layer of a file, as its key in `LAYERS`. */
function layerOf(path: string): string | undefined {
  return Object.keys(LAYERS)
    .filter((pattern) => matches(path, pattern))
    .sort((a, b) => b.length - a.length)[0]
}

/** `path`: a file under `src/`, or the name of a package. The pattern `*` is any package. */
function matches(path: string, pattern: string): boolean {
  if (pattern === '*') return !path.includes('.ts')
  return pattern.endsWith('/') ? path.startsWith(pattern) : path === pattern || path.startsWith(`${pattern}/`)
}

function faultOf({ from, to, typeOnly }: Import): string | null {
  const path = from.replace('src/', '')
  const layer = layerOf(path)
  if (layer === undefined) return `${from} is in no layer`
  const { may, types = [], node = false } = LAYERS[layer]!
  if (to.startsWith('node:')) return node ? null : `${from} imports ${to}, but does not only run on Node`
  const target = to.replace(/^src\//, '')
  if (layerOf(target) === layer && layer.endsWith('/')) return null
  if ([...may, ...(typeOnly ? types : [])].some((allowed) => matches(target, allowed))) return null
  return `${from} imports ${typeOnly ? 'types of ' : ''}${to}`
}

/** Import cycles, each listed once. */
function cyclesIn(imports: Import[]): string[][] {
  const importsByFile = Map.groupBy(imports, ({ from }) => from)
  const reached = new Map<string, Set<string>>()
  for (const from of importsByFile.keys()) {
    const seen = new Set<string>()
    const open = [from]
    for (const at of open) {
      for (const { to } of importsByFile.get(at) ?? []) if (!seen.has(to)) open.push(to)
      for (const { to } of importsByFile.get(at) ?? []) seen.add(to)
    }
    reached.set(from, seen)
  }
  const cycles = [...importsByFile.keys()]
    .filter((file) => reached.get(file)!.has(file))
    .map((file) => [...reached.get(file)!].filter((other) => reached.get(other)?.has(file)).sort())
  return [...new Map(cycles.map((cycle) => [cycle.join(), cycle])).values()]
}

it('does not reach any Node module from the Workers host', async () => {
  const reached = reachedFrom('src/worker.ts', await allImports())
  assert.ok(
    reached.has('src/service/images/publish.ts') && reached.has('src/stores/r2/store.ts'),
    'the import graph is complete',
  )
  assert.deepEqual(
    [...reached].filter((to) => to.startsWith('node:') || to.startsWith('src/node')),
    [],
  )
  assert.ok(
    [...reachedFrom('src/node.ts', await allImports())].includes('node:http'),
    'Node modules would be detected',
  )
})

it('restricts every layer to its allowed imports', async () => {
  const imports = await allImports()
  assert.ok(imports.length > 100, 'the sources are found')
  assert.deepEqual(
    imports.map(faultOf).filter((fault) => fault !== null),
    [],
  )
})

it('has no import cycles, not even of types', async () => {
  const imports = (await allImports()).filter(({ to }) => to.startsWith('src/'))
  assert.deepEqual(cyclesIn(imports), [])
  assert.deepEqual(
    cyclesIn([
      { from: 'a', to: 'b', typeOnly: true },
      { from: 'b', to: 'c', typeOnly: false },
      { from: 'c', to: 'b', typeOnly: true },
    ]),
    [['b', 'c']],
  )
})

it('detects forbidden imports', () => {
  const faults = (from: string, text: string) => importsOf(from, text).map(faultOf).filter(Boolean)
  const wrong: [from: string, text: string][] = [
    [
      'src/service/images/images.ts',
      "import { openFilesystemStore } from '../../stores/filesystem/store.ts'",
    ],
    ['src/service/images/images.ts', "import { Hono } from 'hono'"],
    [
      'src/http/routes/upload.ts',
      "import {\n  openFilesystemStore,\n} from '../../stores/filesystem/store.ts'",
    ],
    ['src/web/pages/viewer.ts', "import { resolveRange } from '../../stores/object-store.ts'"],
    ['src/http/routes/upload.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/http/routes/upload.ts', "const fs = await import('node:fs')"],
    ['src/formats/png/png.ts', "import { inflateSync } from 'node:zlib'"],
    ['src/formats/png/png.ts', "export { a } from '../../service/images/images.ts'"],
    ['src/formats/png/png.ts', "import '../../service/images/images.ts'"],
    ['src/stores/s3/store.ts', "import { spool } from '../drafts/spool.ts'"],
    ['src/stores/sqlite/ledger.ts', "import { open } from '../filesystem/store.ts'"],
    ['src/protocol.ts', "import type { Refusal } from './errors.ts'"],
    ['src/stores/ledger.ts', "import { IMAGE_TYPES } from '../protocol.ts'"],
    ['src/cli/commands/upload.ts', "import { createImages } from '../../service/images/images.ts'"],
    ['src/client/upload.ts', "import { createImages } from '../service/images/images.ts'"],
    ['src/client/compress/engine.ts', "const worker = new URL('../../node/server.ts', import.meta.url)"],
    ['src/elsewhere/new.ts', "import { a } from '../errors.ts'"],
  ]
  for (const [from, text] of wrong) assert.equal(faults(from, text).length, 1, `${from}: ${text}`)
  const right: [from: string, text: string][] = [
    ['src/web/pages/viewer.ts', "import { type A, type B } from '../../stores/object-store.ts'"],
    ['src/service/images/images.ts', "import { IdTaken, type Draft } from '../../stores/object-store.ts'"],
    ['src/node.ts', "const { main } = await import('./node/main.ts')"],
    ['src/formats/png/png.ts', "/* import { a } from '../../http/app.ts' */\n// import 'node:fs'"],
  ]
  for (const [from, text] of right) assert.deepEqual(faults(from, text), [], text)
})
