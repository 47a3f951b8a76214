/** One site per set of server settings, sharing one browser. */
import type { Browser } from 'playwright-core'
import type { PageState } from '../states/state.ts'
import { openSite, type Site, type Visit } from './site.ts'

export interface Sites {
  /** Opens a fresh page for the state, with its site. */
  visit(state: PageState, locale?: string): Promise<Visit & { site: Site }>
  close(): Promise<void>
}

export function openSites(browser: Browser): Sites {
  const sites = new Map<string, Promise<Site>>()
  return {
    async visit({ env = {}, visit }, locale = 'en-GB') {
      const name = JSON.stringify(env)
      const opening = sites.get(name) ?? openSite(env, browser)
      sites.set(name, opening)
      const site = await opening
      return { site, ...(await site.visit({ locale, expected: /./, ...visit })) }
    },
    async close() {
      for (const site of sites.values()) await (await site).close()
    },
  }
}
