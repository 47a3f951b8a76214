/** Reads the bundle of pages' files into memory, and makes the site of it: what pages say of the server, and terms. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../config.ts'
import type { Site } from '../../http/context.ts'
import type { Log } from '../../http/log.ts'
import type { Asset, AssetList } from '../../web/assets.ts'
import type { AssetUrls } from '../../web/pages/page.ts'
import { siteFactsOf } from '../../web/pages/site-facts.ts'
import { isFresh, readBundle } from './build.ts'

/** Node's API for files inside a single executable. Undefined in Bun. */
const sea = process.getBuiltinModule('node:sea')

export interface LoadedAssets {
  /** By path. */
  assets: Map<string, Asset>
  urls: AssetUrls
}

/** Reads the files of the site. The returned function builds the site for a server at `baseUrl`. */
export async function loadSite(config: Config, log: Log): Promise<(baseUrl: string) => Site> {
  const [{ assets, urls }, terms] = await Promise.all([
    loadAssets((message) => log.warn({}, message)),
    config.termsFile === null ? undefined : readFile(config.termsFile, 'utf8'),
  ])
  return (baseUrl) => ({
    facts: siteFactsOf(config, baseUrl, urls),
    asset: (path) => assets.get(path) ?? null,
    terms,
  })
}

/**
 * Every file that pages load: those inside a single executable, otherwise the bundle. One that is missing or older than its
 * sources is built first where vite is installed. If that fails an older bundle serves, and `warn` says so; without any
 * bundle this throws.
 */
export async function loadAssets(warn: (message: string) => void = console.warn): Promise<LoadedAssets> {
  const { list, read } = sea?.isSea() ? insideExecutable(sea) : await bundle(warn)
  const entries = await Promise.all(
    list.files.map(async ({ path, file, type, brotli, immutable }): Promise<[string, Asset]> => {
      const bytes = await read(file)
      return brotli
        ? [path, { path, type, bytes, immutable, brotli: await read(`${file}.br`) }]
        : [path, { path, type, bytes, immutable }]
    }),
  )
  return { assets: new Map(entries), urls: list.urls }
}

interface Bundle {
  list: AssetList
  read(file: string): Promise<Buffer>
}

function insideExecutable({ getAsset, getRawAsset }: typeof import('node:sea')): Bundle {
  return {
    list: JSON.parse(getAsset('web/assets.json', 'utf8')),
    read: async (file) => Buffer.from(getRawAsset(`web/${file}`) as ArrayBuffer),
  }
}

async function bundle(warn: (message: string) => void): Promise<Bundle> {
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
  return { list, read: (file) => readFile(join(folder, file)) }
}
