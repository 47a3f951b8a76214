/** A problem as a page for people. */
import type { RefusalCode } from '../../errors.ts'
import type { Problem } from '../../protocol.ts'
import { contextFor, errorPage, type Page, type PageContext } from '../../web/pages.ts'
import type { Site } from '../context.ts'

/** The server's own faults show the request id, for the operator to find them in the log. */
export function errorPageOf(context: PageContext, problem: Problem, requestId: string, rule = ''): Page {
  return errorPage(context, {
    ...problem,
    error: problem.error as RefusalCode,
    rule,
    ...(problem.status >= 500 ? { requestId } : {}),
  })
}

/** The same, outside the framework. */
export function refusedPage(
  { facts }: Site,
  acceptLanguage: string | undefined,
  problem: Problem,
  requestId: string,
  rule = '',
): Page {
  return errorPageOf(contextFor(facts, acceptLanguage), problem, requestId, rule)
}
