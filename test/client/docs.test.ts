import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { clientDocs, DOCUMENT, EXCLUDED } from '../../scripts/client-docs.ts'
import * as client from '../../src/client/node.ts'

const text = clientDocs()

it('is up to date', async () => {
  assert.ok((await readFile(DOCUMENT, 'utf8')) === text, 'docs/client.md is out of date: run npm run docs')
})

it('documents every export and every type that they reference, with comments on members', () => {
  const exported = Object.keys(client).filter((name) => !EXCLUDED.includes(name))
  for (const name of exported) assert.match(text, new RegExp(`^### ${name}$`, 'm'), name)
  const code = [...text.matchAll(/^```ts\n((?:function|async function|class|interface|type) [\s\S]*?)^```/gm)]
  const referenced = code.flatMap(([, body = '']) => [
    ...body.replace(/\/\/.*/g, '').matchAll(/(?:: |\| |<|extends |, )([A-Z]\w+)\b/g),
  ])
  for (const [, name = ''] of referenced) {
    if (name in globalThis || ['Promise', 'Pick', 'Action', ...EXCLUDED].includes(name)) continue
    assert.match(text, new RegExp(`^### ${name}$`, 'm'), name)
  }
  assert.ok(referenced.length > 30)
  assert.match(text, /^### SendOptions$[\s\S]*at least 128 random bits[\s\S]*idempotencyKey\?: string/m)
})
