/** Request bodies are only read by `src/node/http/body.ts`, and drained by `src/node/http/drain.ts`. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { it } from 'node:test'

/** The only files that may read a body from the socket. */
const READERS = ['src/node/http/body.ts', 'src/node/http/drain.ts']

/** All ways to read a body with Hono, `Request` and Node's streams. */
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

it('detects all ways to read a body', () => {
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
    // `request.body` in uploads is our own type, whose body comes from these readers.
    found.push(
      ...lines.filter((line) => !line.includes('request.body)')).map((line) => `${path}: ${line.trim()}`),
    )
  }
  assert.ok(files > 40, 'the sources are found')
  assert.deepEqual(found, [])
})
