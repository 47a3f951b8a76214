import { join } from 'node:path'
import { build } from 'vite'

/**
 * Builds the compression worker and its codecs as static files, for bundlers that don't support workers. `folder`: where
 * `worker.js` goes.
 */
export async function buildWorker(folder: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    // The script finds its codecs relative to itself, wherever it is served.
    base: './',
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        input: join(import.meta.dirname, '../../src/client/worker/browser-worker.ts'),
        output: {
          entryFileNames: 'worker.js',
          chunkFileNames: '[name]-[hash].js',
          assetFileNames: '[name]-[hash][extname]',
        },
        checks: { pluginTimings: false },
      },
    },
  })
}
