import { join } from 'node:path'
import { build } from 'vite'

/**
 * The compression worker as files that a site can serve as they are, with the codecs beside it: for bundlers that find no
 * workers. `folder`: where `worker.js` goes.
 */
export async function buildWorker(folder: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    // Codecs are found beside the script, wherever that is served.
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
