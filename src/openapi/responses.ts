/** Answers, as operations list them. */
import { type ProblemCode, problemType, retrySecondsOf, statusOf, titleOf } from '../problems.ts'
import { CODES, codesOf, type Refuser } from './codes.ts'
import { type HeaderKey, headers, PAGE, REFUSAL } from './headers.ts'
import type { MediaType, ResponseObject } from './shapes.ts'

export const HTML: Record<string, MediaType> = { 'text/html': { schema: { type: 'string' } } }

/** `problem`: always as problem details. `page`: always for people. `either`: as `Accept` asks. */
type Form = 'problem' | 'page' | 'either'

/** What an operation refuses with, by status. `more`: headers besides those of every refusal; or by status. */
export function refusals(
  refuser: Refuser,
  form: Form,
  more: (status: number) => HeaderKey[] = () => [],
): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(codesOf(refuser), statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [`${status}`, refusal(codes, form, more(status))]),
  )
}

/** All codes have the same status. */
export function refusal(codes: ProblemCode[], form: Form, more: HeaderKey[] = []): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${CODES[code].when}`).join(' '),
    headers: headers([...REFUSAL, ...more]),
    content: {
      ...(form === 'page' ? {} : { 'application/problem+json': problems(codes) }),
      ...(form === 'problem' ? {} : HTML),
    },
  }
}

function problems(codes: ProblemCode[]): MediaType {
  const status = statusOf(codes[0]!)
  const value = (code: ProblemCode) => ({
    type: problemType(code),
    title: titleOf(status),
    status,
    detail: CODES[code].when,
    error: code,
    retryAfter: retrySecondsOf(code),
  })
  return {
    schema: {
      allOf: [{ $ref: '#/components/schemas/Problem' }],
      properties: { status: { const: status }, error: { enum: codes } },
    },
    examples: Object.fromEntries(codes.map((code) => [code, { value: value(code) }])),
  }
}

/** A page for people. */
export function pageAnswer(description: string, more: HeaderKey[] = [], keys = PAGE): ResponseObject {
  return { description, headers: headers([...keys, ...more]), content: HTML }
}
