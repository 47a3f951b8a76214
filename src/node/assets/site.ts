/** The site: pages' files, terms, and what pages say of the server. */
import { readFile } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import type { Site } from '../../http/context.ts'
import type { Log } from '../../http/log.ts'
import { siteFactsOf } from '../../web/pages/site-facts.ts'
import { loadAssets } from './load.ts'

/** Reads its files. What is returned makes it for a server at `baseUrl`. */
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
