/** An upload's answer as a page. Loaded at its first use: programs and our own page want JSON. */
import { contextFor, type Page, resultPage } from '../../web/pages.ts'
import type { Site } from '../context.ts'

type Stored = Parameters<typeof resultPage>[1]

export function storedPage({ facts }: Site, acceptLanguage: string | undefined, stored: Stored): Page {
  return resultPage(contextFor(facts, acceptLanguage), stored)
}
