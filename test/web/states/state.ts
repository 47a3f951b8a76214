import type { Page } from 'playwright-core'
import type { Site, VisitOptions } from '../support/site.ts'

/** One state of a page, for the eye and for axe: how to get there. */
export interface PageState {
  name: string
  visit?: VisitOptions
  /** Settings of the server. Default: those of all. */
  env?: Record<string, string>
  reach(page: Page, site: Site): Promise<void>
}
