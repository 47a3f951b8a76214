import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { clientDocs, DOCUMENT } from '../../scripts/client-docs.ts'
import * as client from '../../src/client/node.ts'

it('is documented as it is', async () => {
  assert.equal(await readFile(DOCUMENT, 'utf8'), clientDocs(), 'docs/client.md is old: npm run docs')
})

it('is documented whole, with no code besides declarations', () => {
  const text = clientDocs()
  for (const name of Object.keys(client)) {
    // Of the codes' own file.
    if (name !== 'Refusal') assert.match(text, new RegExp(`^### ${name}$`, 'm'), name)
  }
  assert.match(text, /^### SendOptions$[\s\S]*idempotencyKey\?: string/m)
  assert.doesNotMatch(text, /\b(return|await (?!upload)|const \w+ = new)\b/)
})
