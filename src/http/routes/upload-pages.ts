/** An upload's answer as a page. Loaded at its first use: programs and our own page want JSON. */
import type { Problem } from '../../protocol.ts'
import { contextFor, type Page, resultPage } from '../../web/pages.ts'
import type { Site } from '../context.ts'
import { errorPageOf } from './error-page.ts'

type Stored = Parameters<typeof resultPage>[1]

export function storedPage({ facts }: Site, acceptLanguage: string | undefined, stored: Stored): Page {
  return resultPage(contextFor(facts, acceptLanguage), stored)
}

export function refusedPage(
  { facts }: Site,
  acceptLanguage: string | undefined,
  problem: Problem,
  requestId: string,
): Page {
  return errorPageOf(contextFor(facts, acceptLanguage), problem, requestId)
}
