import type { Page } from 'playwright-core'
import type { Site, VisitOptions } from '../support/site.ts'

/** A state of a page, for screenshots and axe. */
export interface PageState {
  name: string
  visit?: VisitOptions
  /** Server settings. Default: the shared server's. */
  env?: Record<string, string>
  /** Default: the page as it opens. */
  reach?(page: Page, site: Site): Promise<void>
}
