import type { PageFacts } from '../../pages/page-facts.ts'

/**
 * What the server wrote into the page for its script. A page that tells nothing may still fetch this, in one file with
 * what it uses.
 */
export const pageFacts: PageFacts = JSON.parse(document.getElementById('facts')?.textContent ?? 'null')
