/** The pages that the server answers with. */

export { pickMessages } from './messages/language.ts'
export { apiPage } from './pages/api.ts'
export { deletedPage, deletePage } from './pages/delete.ts'
export { type ErrorFacts, errorPage } from './pages/error.ts'
export { galleryPage } from './pages/gallery.ts'
export { homePage } from './pages/home.ts'
export type { AssetUrls, Page, PageContext } from './pages/page.ts'
export { receiptPage, reportPage } from './pages/report.ts'
export { resultPage } from './pages/result.ts'
export { termsPage } from './pages/terms.ts'
export { toolsPage } from './pages/tools.ts'
export { viewerPage } from './pages/viewer.ts'
