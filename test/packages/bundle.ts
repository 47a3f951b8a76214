/** The example for browsers, bundled as somebody would who installed the package. */
import { join } from 'node:path'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import { rollup } from 'rollup'
import { build as vite } from 'vite'
import webpack from 'webpack'

/** Bundles `entry` to `main.js` in the folder `out`. */
export type Bundle = (entry: string, out: string) => Promise<unknown>

/** With the settings that each one's first page of documentation has, and nothing for workers. */
export const BUNDLERS: Record<string, Bundle> = {
  vite: (entry, out) =>
    vite({
      configFile: false,
      logLevel: 'error',
      root: join(entry, '..'),
      // The page is in a folder of its site.
      base: './',
      build: {
        outDir: out,
        emptyOutDir: false,
        rolldownOptions: { input: entry, output: { entryFileNames: 'main.js' } },
      },
    }),
  webpack: (entry, out) =>
    new Promise((done, failed) => {
      const options = { mode: 'production', entry, output: { path: out, filename: 'main.js' } } as const
      // Minifying takes most of the time, and finds nothing.
      webpack({ ...options, optimization: { minimize: false } }, (error, stats) => {
        if (error || !stats || stats.hasErrors()) failed(error ?? new Error(stats?.toString()))
        else done(stats)
      })
    }),
  esbuild: (entry, out) =>
    esbuild.build({
      entryPoints: [entry],
      outdir: out,
      bundle: true,
      splitting: true,
      format: 'esm',
      logLevel: 'error',
    }),
  rollup: async (entry, out) => {
    const bundle = await rollup({ input: entry, plugins: [nodeResolve({ browser: true })] })
    return bundle.write({ dir: out, format: 'es', entryFileNames: 'main.js' })
  },
}
