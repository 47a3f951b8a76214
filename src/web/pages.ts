/** The pages that the server answers with. */
export { deletedPage, deletePage } from './delete-page.ts'
export { type ErrorFacts, errorPage } from './error-page.ts'
export { homePage } from './home-page.ts'
export { pickMessages } from './language.ts'
export type { AssetUrls, Page, PageContext } from './page.ts'
export { resultPage } from './result-page.ts'
export { termsPage } from './terms-page.ts'
export { viewerPage } from './viewer-page.ts'
