/** The Worker as modules: `worker.js`, and what it loads at the first use. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { ROOT } from '../src/node/manifest.ts'

export interface WorkerModule {
  /** Within one folder. */
  name: string
  text: string
  /** It, or a module that it imports at once, is there from the start. */
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
  return Object.keys(metafile.outputs).map((name, nth) => ({
    name,
    text: outputFiles[nth]!.text,
    isAtStart: atStart.has(name),
  }))
}

/** As Cloudflare counts it: compressed by gzip. Unit: bytes. */
export function gzippedBytes(modules: WorkerModule[]): number {
  return gzipSync(modules.map(({ text }) => text).join('\n'), { level: 9 }).length
}
