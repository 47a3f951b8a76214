/** The document by itself: valid OpenAPI, and about every code there is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { CODES } from '../../src/openapi/codes.ts'
import { createDocument } from '../../src/openapi/document.ts'
import type { MediaType } from '../../src/openapi/shapes.ts'

const document = createDocument({
  baseUrl: 'https://pics.example',
  maxUploadBytes: 26_214_400,
  uploadsPerDay: 100,
})
const operations = Object.values(document.paths).flatMap((item) => Object.values(item))

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    // The parser resolves references in place.
    await SwaggerParser.validate(structuredClone(document) as never)
  })

  it('gives every operation a name of its own', () => {
    const names = operations.map(({ operationId }) => operationId)
    assert.equal(new Set(names).size, names.length)
  })

  it('names an operation for every code, and a code for every refusal', () => {
    const named = new Set(operations.map(({ operationId }) => operationId))
    for (const [code, { by }] of Object.entries(CODES)) {
      assert.ok(by.length > 0, `${code}: src/openapi/codes.ts does not say who refuses with it`)
      for (const refuser of by) {
        assert.ok(refuser === 'anywhere' || named.has(refuser), `${code}: there is no operation ${refuser}`)
      }
    }
  })

  it('gives an example of every refusal, which says what the answer says', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        const problems: MediaType['examples'] = content['application/problem+json']?.examples ?? {}
        for (const [code, { value }] of Object.entries(problems)) {
          const problem = value as { status: number; error: string; type: string }
          const where = `${operationId} ${status} ${code}`
          assert.equal(problem.status, Number(status), where)
          assert.equal(problem.error, code, where)
          assert.equal(problem.type, `/api#${code}`, where)
        }
      }
    }
  })
})
