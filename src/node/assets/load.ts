/**
 * Loads the asset bundle into memory and builds the site from it: the facts that pages show about the server, and the terms.
 */
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

/** Node's API for single executable applications. Undefined in Bun. */
const sea = process.getBuiltinModule('node:sea')

export interface LoadedAssets {
  /** By path. */
  assets: Map<string, Asset>
  urls: AssetUrls
}

/** Reads the site's files. The returned function builds the site for a server at `baseUrl`. */
export async function loadSite(config: Config, log: Log): Promise<(baseUrl: string) => Site> {
  const [{ assets, urls }, terms] = await Promise.all([
    loadAssets((message) => log.warn({}, message)),
    config.termsFile === null ? undefined : readTerms(config.termsFile),
  ])
  return (baseUrl) => ({
    facts: siteFactsOf(config, baseUrl, urls),
    asset: (path) => assets.get(path) ?? null,
    terms,
  })
}

/**
 * All assets of the pages: from inside a single executable, otherwise from the bundle. A missing or stale bundle is built
 * first, if vite is installed. If the build fails, an older bundle is served with a `warn`; without any bundle this throws.
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
      // In a separate process, so that the bundler's memory is not the server's.
      await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'build.ts')])
    } catch (cause) {
      if (!(await readBundle())) {
        throw new Error('the pages have not been built: run npm ci, then npm run build', {
          cause,
        })
      }
      warn(`could not rebuild the pages, serving an older build: ${(cause as Error).message}`)
    }
  }
  const { folder, list } = (await readBundle())!
  return { list, read: (file) => readFile(join(folder, file)) }
}

function readTerms(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause) => {
    throw new Error('TERMS_FILE can’t be read', { cause })
  })
}
