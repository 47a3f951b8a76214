/** The OpenAPI document is valid and covers every error code. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createDocument, type MediaType } from '../../src/openapi.ts'
import { PROBLEMS } from '../../src/problems.ts'

const document = createDocument({
  baseUrl: 'https://pics.example',
  maxUploadBytes: 26_214_400,
  uploadsPerDay: 100,
})
const operations = Object.values(document.paths).flatMap((item) => Object.values(item))

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    // The parser resolves references in place.
    await SwaggerParser.validate(structuredClone(document) as never)
  })

  it('has unique operation IDs', () => {
    const names = operations.map(({ operationId }) => operationId)
    assert.equal(new Set(names).size, names.length)
  })

  it('documents every error code', () => {
    const responses = [...operations, { responses: document.components.responses }].flatMap(({ responses }) =>
      Object.values(responses),
    )
    const documented = responses.flatMap(({ content = {} }) =>
      Object.keys(content['application/problem+json']?.examples ?? {}),
    )
    assert.deepEqual([...new Set(documented)].sort(), Object.keys(PROBLEMS).sort())
  })

  it('has a matching example for every error', () => {
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
