/** A request's body is read in one way: `src/node/http/body.ts`, and what is left of it by `src/node/http/drain.ts`. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { it } from 'node:test'

/** Where a body's bytes come from the socket. */
const READERS = ['src/node/http/body.ts', 'src/node/http/drain.ts']

/** Ways of Hono, of `Request`, and of Node's streams to get at a body. */
const WAYS = [
  /\breq(uest)?\.(raw|json|text|blob|bytes|arrayBuffer|formData|parseBody)\b(?!:)/,
  /\b(req|request|incoming)\b\s*\.(on|once|addListener)\(\s*'(data|readable)'/,
  /\bof (req|request|incoming)\b/,
  /\b(pipe|pipeline|toWeb|text|json|buffer|arrayBuffer)\(\s*(req|request|incoming)\b/,
  /\b(req|request|incoming)\b\.(pipe|read|iterator)\(/,
]

function waysIn(source: string): string[] {
  return source.split('\n').filter((line) => WAYS.some((way) => way.test(line)))
}

it('knows the ways to read a body', () => {
  for (const line of [
    'const form = await c.req.parseBody()',
    'await c.req.json()',
    "incoming.on('data', take)",
    'for await (const piece of incoming) {',
    'pipeline(incoming, file)',
    'const { body } = c.req.raw',
  ]) {
    assert.deepEqual(waysIn(line), [line])
  }
})

it('reads bodies in one place', async () => {
  const found: string[] = []
  let files = 0
  for await (const path of glob('src/{http,node,service}/**/*.ts')) {
    files++
    if (READERS.includes(path)) continue
    const lines = waysIn(await readFile(path, 'utf8'))
    // The upload's request is our own shape: its body comes from the one reader.
    found.push(
      ...lines.filter((line) => !line.includes('request.body)')).map((line) => `${path}: ${line.trim()}`),
    )
  }
  assert.ok(files > 40, 'the sources are found')
  assert.deepEqual(found, [])
})
