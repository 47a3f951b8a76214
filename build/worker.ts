/** The Cloudflare Worker as modules: `worker.js` and the modules that it loads on demand. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { ROOT } from '../src/node/manifest.ts'

export interface WorkerModule {
  /** File name, without a folder. */
  name: string
  text: string
  /** Whether the module is loaded at start: the entry point and its static imports. */
  isAtStart: boolean
}

export const ENTRY = 'worker.js'

export async function workerModules(): Promise<WorkerModule[]> {
  const { output } = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, resolve: { conditions: ['workerd', 'worker', 'browser', 'module'] } },
    build: {
      ssr: true,
      write: false,
      minify: true,
      target: 'es2024',
      reportCompressedSize: false,
      rolldownOptions: {
        platform: 'browser',
        input: join(ROOT, 'src/worker.ts'),
        // Every export of the entry point would be an entry point of the Worker.
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: ENTRY, chunkFileNames: '[name]-[hash].js' },
        checks: { pluginTimings: false },
      },
    },
  })) as Rolldown.RolldownOutput
  const chunks = output.filter((file) => file.type === 'chunk')
  const atStart = new Set([ENTRY])
  // Grows while it is read, so that imports of imports are followed too.
  for (const name of atStart) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)!.imports) atStart.add(imported)
  }
  return chunks.map(({ fileName, code }) => ({
    name: fileName,
    text: code,
    isAtStart: atStart.has(fileName),
  }))
}

/** Size as Cloudflare counts it: gzipped. Unit: bytes. */
export function gzippedBytes(modules: WorkerModule[]): number {
  return gzipSync(modules.map(({ text }) => text).join('\n'), { level: 9 }).length
}
