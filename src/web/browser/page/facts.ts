import type { PageFacts } from '../../pages/page-facts.ts'

/** What the server wrote into the page for its script. */
export const pageFacts: PageFacts = JSON.parse(document.getElementById('facts')!.textContent)
