/** An error as a page for people. */
import { Refusal } from '../../errors.ts'
import type { Page } from '../../web/pages/page.ts'
import { contextFor, errorPage } from '../../web/pages.ts'
import type { Site } from '../context.ts'
import { toProblem } from '../problem.ts'

/** The server's own faults show the request id, for the operator to find them in the log. */
export function errorPageOf(
  { facts }: Site,
  acceptLanguage: string | undefined,
  error: unknown,
  requestId: string,
): Page {
  const { status, title, detail } = toProblem(error)
  return errorPage(contextFor(facts, acceptLanguage), {
    status,
    title,
    detail,
    ...(error instanceof Refusal && { error: error.code, rule: error.rule }),
    ...(status >= 500 && { requestId }),
  })
}
