/** The Cloudflare Worker as modules: `worker.js` and the modules that it loads on demand. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
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
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { worker: 'src/worker.ts' },
    outdir: '.',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    metafile: true,
    write: false,
  })
  const atStart = new Set([ENTRY])
  for (const name of atStart) {
    for (const { path, kind } of metafile.outputs[name]!.imports) {
      if (kind === 'import-statement') atStart.add(path)
    }
  }
  return Object.keys(metafile.outputs).map((name, index) => ({
    name,
    text: outputFiles[index]!.text,
    isAtStart: atStart.has(name),
  }))
}

/** Size as Cloudflare counts it: gzipped. Unit: bytes. */
export function gzippedBytes(modules: WorkerModule[]): number {
  return gzipSync(modules.map(({ text }) => text).join('\n'), { level: 9 }).length
}
