/** Bundles what pages load into `dist/web/`: hashed, compressed once, listed in `assets.json`. */
import { readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { build, defineConfig, type Plugin, type Rolldown } from 'vite'
import { digestSources } from './src/node/assets/list.ts'
import type { AssetList } from './src/web/assets.ts'
import type { ScriptName, StyleName } from './src/web/pages/page.ts'

const ROOT = import.meta.dirname

/** Pages' scripts by name. */
const SCRIPTS = {
  home: 'home.ts',
  viewer: 'viewer.ts',
  gallery: 'gallery.ts',
  delete: 'delete.ts',
  pass: 'pass.ts',
  report: 'report.ts',
  operator: 'operator.ts',
}

/** What a kind of page adds to the style of all. */
const STYLES: StyleName[] = ['home', 'note', 'viewer', 'gallery', 'reference', 'report', 'operator']

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
}

export default defineConfig({
  root: ROOT,
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: 'dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: {
      polyfill: false,
      // Besides styles, only what the first picture waits for: the names of all would make the page's script longer.
      resolveDependencies: (script, files) =>
        files.filter(
          (file) =>
            file.endsWith('.css') ||
            (script.includes('/uploading-') && file !== script && /\/(uploading|picture)-/.test(file)),
        ),
    },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: {
        ...Object.fromEntries(
          Object.entries(SCRIPTS).map(([name, file]) => [name, join(ROOT, 'src/web/browser', file)]),
        ),
        style: join(ROOT, 'src/web/style/style.css'),
        ...Object.fromEntries(
          STYLES.map((name) => [`${name}-style`, join(ROOT, 'src/web/style', `${name}.css`)]),
        ),
      },
      output: {
        // What every page's script uses comes in one request, not in ten. Nothing here may count on the home page.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /src\/(protocol|json|web\/messages\/wording|web\/browser\/(page\/(clipboard|facts|outdated|preload|questions|status)|history\/history))\.ts/,
              minShareCount: 2,
            },
            // What the home page needs at once, though parts that come later use it as well.
            {
              name: 'upload',
              test: /src\/web\/(share-path|browser\/(card\/(?!qr|menu|done-card|failed-card|sending-card|gallery-card|describe|actions|codes|thumbnail)|upload\/(?!uploading|cancellable|throughput|reasons|reconnect)|intake\/drop|history\/preferences))/,
            },
            // Shared by uploads and the history, whose rows come with the page.
            {
              name: 'picture',
              test: /src\/web\/(pages\/embed-codes|browser\/(card\/(actions|codes|thumbnail)|upload\/reasons|intake\/(unsent|kept-files)))/,
            },
            // What the first picture waits for: a round trip, not four.
            {
              name: 'uploading',
              test: /src\/(errors|lifetimes|retry-after|formats\/(image|heic\/brands)|client\/((?!compress|worker|api)|api\/(?!solve|challenge)|compress\/(engine|plan)|worker\/(pool|job|browser-host))|web\/browser\/(card\/(done|failed|sending)-card|upload\/(uploading|cancellable|throughput|reconnect)))/,
            },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  plugins: [stylesOfLaterParts(), iconsAndManifest(), serviceWorker(), list()],
})

/** Parts that come later bring their styles, and the scripts that they import, by a few lines of our own. */
function stylesOfLaterParts(): Plugin {
  return {
    name: 'pinhole-styles-of-later-parts',
    enforce: 'pre',
    resolveId: (id) =>
      id.endsWith('vite/preload-helper.js') ? join(ROOT, 'src/web/browser/page/preload.ts') : null,
  }
}

/** Icons under hashed names, and the manifest that names them. */
function iconsAndManifest(): Plugin {
  return {
    name: 'pinhole-icons',
    async generateBundle() {
      const icons = join(ROOT, 'src/web/icons')
      const emit = async (name: string) =>
        this.getFileName(
          this.emitFile({
            type: 'asset',
            name,
            originalFileName: name,
            source: await readFile(join(icons, name)),
          }),
        )
      await emit('apple-icon.png')
      await emit('preview.png')
      const manifest = {
        ...JSON.parse(await readFile(join(ROOT, 'src/web/manifest.json'), 'utf8')),
        icons: [
          { src: `/${await emit('icon.svg')}`, sizes: 'any', type: 'image/svg+xml' },
          { src: `/${await emit('icon-192.png')}`, sizes: '192x192', type: 'image/png' },
          { src: `/${await emit('icon-512.png')}`, sizes: '512x512', type: 'image/png' },
          {
            src: `/${await emit('icon-maskable-512.png')}`,
            sizes: '512x512',
            type: 'image/png',
            purpose: 'maskable',
          },
        ],
      }
      this.emitFile({ type: 'asset', fileName: 'manifest.webmanifest', source: JSON.stringify(manifest) })
      const favicon = await readFile(join(icons, 'favicon.ico'))
      this.emitFile({ type: 'asset', fileName: 'favicon.ico', source: favicon })
    },
  }
}

/** One file at the root, because it may only answer for addresses beside and below its own. */
function serviceWorker(): Plugin {
  return {
    name: 'pinhole-service-worker',
    async generateBundle() {
      const built = await build({
        configFile: false,
        logLevel: 'warn',
        publicDir: false,
        build: {
          write: false,
          target: 'es2023',
          lib: {
            entry: join(ROOT, 'src/web/browser/service-worker.ts'),
            formats: ['iife'],
            name: 'pinhole',
          },
        },
      })
      const [{ output }] = built as { output: { code: string }[] }[]
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source: output[0].code })
    },
  }
}

const BEST = { [constants.BROTLI_PARAM_QUALITY]: 11 }

/** Codecs are large and seldom change: a name with the same hash holds the same bytes as in the last build. */
function earlier(file: string): Promise<Buffer | null> {
  if (!file.endsWith('.wasm')) return Promise.resolve(null)
  return readFile(join(ROOT, 'dist/web', `${file}.br`)).catch(() => null)
}

/** Compresses every file and writes down what there is. */
function list(): Plugin {
  return {
    name: 'pinhole-list',
    async writeBundle({ dir }, bundle) {
      const out = dir!
      const brotli = promisify(brotliCompress)
      const files = await Promise.all(
        Object.values(bundle).map(async (output) => {
          const file = output.fileName
          const bytes = await readFile(join(out, file))
          const packed = (await earlier(file)) ?? (await brotli(bytes, { params: BEST }))
          const isShorter = packed.length < bytes.length * 0.95
          if (isShorter) await writeFile(join(out, `${file}.br`), packed)
          return {
            path: `/${file}`,
            file,
            type: TYPES[extname(file)] ?? 'application/octet-stream',
            brotli: isShorter,
            immutable: file.startsWith('assets/'),
          }
        }),
      )
      const named = (name: string): string => {
        const found = Object.values(bundle).find(
          (output) =>
            (output.type === 'chunk' && output.isEntry && output.name === name) ||
            (output.type === 'asset' && output.names.includes(name)),
        )
        if (!found) throw new Error(`the bundle lacks ${name}`)
        return `/${found.fileName}`
      }
      const assets: AssetList = {
        sources: digestSources(ROOT),
        files,
        urls: {
          style: named('style.css'),
          styles: Object.fromEntries(STYLES.map((name) => [name, named(`${name}-style.css`)])) as Record<
            StyleName,
            string
          >,
          icon: named('icon.svg'),
          appleIcon: named('apple-icon.png'),
          preview: named('preview.png'),
          manifest: '/manifest.webmanifest',
          scripts: forEachScript(named),
          imports: forEachScript((name) => importsOf(bundle, named(name).slice(1)).map((file) => `/${file}`)),
        },
      }
      await writeFile(join(out, 'assets.json'), JSON.stringify(assets, null, 1))
    },
  }
}

function forEachScript<T>(value: (name: string) => T): Record<ScriptName, T> {
  const entries = Object.keys(SCRIPTS).map((name) => [name, value(name)])
  return Object.fromEntries(entries) as Record<ScriptName, T>
}

/** Every chunk that `file` needs before it runs. */
function importsOf(bundle: Rolldown.OutputBundle, file: string, seen = new Set<string>()): string[] {
  const chunk = bundle[file]
  if (chunk?.type !== 'chunk') return []
  for (const imported of chunk.imports) {
    if (!seen.has(imported)) importsOf(bundle, imported, seen.add(imported))
  }
  return [...seen]
}
