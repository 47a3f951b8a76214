/** Reads the bundle of pages' files into memory. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Asset } from '../../web/assets.ts'
import type { AssetUrls } from '../../web/pages/page.ts'
import { isFresh, readBundle } from './build.ts'

export interface LoadedAssets {
  /** By path. */
  assets: Map<string, Asset>
  urls: AssetUrls
}

/**
 * Every file that pages load. A bundle that is missing or older than its sources is built first where vite is
 * installed. If that fails an older bundle serves, and `warn` says so; without any bundle this throws.
 */
export async function loadAssets(warn: (message: string) => void = console.warn): Promise<LoadedAssets> {
  if (!(await isFresh())) {
    try {
      // In a process of its own: the bundler's memory is not the server's.
      await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'build.ts')])
    } catch (cause) {
      if (!(await readBundle())) {
        throw new Error('the files of the pages are not built: run npm ci, then npm run build', {
          cause,
        })
      }
      warn(`pages are served from an older build: ${(cause as Error).message}`)
    }
  }
  const { folder, list } = (await readBundle())!
  const entries = await Promise.all(
    list.files.map(async ({ path, file, type, brotli, immutable }): Promise<[string, Asset]> => {
      const bytes = await readFile(join(folder, file))
      return brotli
        ? [path, { path, type, bytes, immutable, brotli: await readFile(join(folder, `${file}.br`)) }]
        : [path, { path, type, bytes, immutable }]
    }),
  )
  return { assets: new Map(entries), urls: list.urls }
}
