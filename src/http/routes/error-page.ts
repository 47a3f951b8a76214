/** Error pages. */
import { Refusal } from '../../errors.ts'
import { errorPage } from '../../web/pages/error.ts'
import { contextFor, type Page } from '../../web/pages/page.ts'
import type { Site } from '../context.ts'
import { toProblem } from '../problem.ts'

/** Server errors include the request ID, which the operator can look up in the log. */
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
