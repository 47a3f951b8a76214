/** Entry point of the server-rendered pages. */
import { pickLanguage } from './messages/language.ts'
import type { PageContext, SiteFacts } from './pages/page.ts'

export { pickLanguage } from './messages/language.ts'
export { apiPage } from './pages/api.ts'
export { deletedPage, deletePage } from './pages/delete.ts'
export { type ErrorFacts, errorPage } from './pages/error.ts'
export { GALLERY_SCRIPT_DIGEST, galleryPage } from './pages/gallery.ts'
export { homePage } from './pages/home.ts'
export type { AssetUrls, Page, PageContext, SiteFacts } from './pages/page.ts'
export { passPage } from './pages/pass.ts'
export { receiptPage, reportPage } from './pages/report.ts'
export { resultPage } from './pages/result.ts'
export { termsPage } from './pages/terms.ts'
export { toolsPage } from './pages/tools.ts'
export { transparencyPage } from './pages/transparency.ts'
export { viewerPage } from './pages/viewer.ts'

export function contextFor(facts: SiteFacts, acceptLanguage: string | undefined): PageContext {
  return { ...facts, ...pickLanguage(acceptLanguage) }
}
