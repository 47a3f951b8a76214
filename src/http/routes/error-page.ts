/** An error as a page for people. */
import { Refusal } from '../../errors.ts'
import type { Page, PageContext } from '../../web/pages/page.ts'
import { contextFor, errorPage } from '../../web/pages.ts'
import type { Site } from '../context.ts'
import { toProblem } from '../problem.ts'

/** The server's own faults show the request id, for the operator to find them in the log. */
export function errorPageOf(context: PageContext, error: unknown, requestId: string): Page {
  const { status, title, detail } = toProblem(error)
  return errorPage(context, {
    status,
    title,
    detail,
    ...(error instanceof Refusal && { error: error.code, rule: error.rule }),
    ...(status >= 500 && { requestId }),
  })
}

/** The same, outside the framework. */
export function refusedPage(
  { facts }: Site,
  acceptLanguage: string | undefined,
  error: unknown,
  requestId: string,
): Page {
  return errorPageOf(contextFor(facts, acceptLanguage), error, requestId)
}
