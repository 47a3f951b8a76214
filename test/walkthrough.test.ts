/** `docs/walkthrough.md` names symbols that are there. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/processes/process.ts'

const text = readFileSync(join(ROOT, 'docs/walkthrough.md'), 'utf8')
const links = [...text.matchAll(/\[`(\w+)`\]\(\.\.\/(src\/[\w/.-]+\.ts)\)/g)].map(
  ([, symbol, file]) => [symbol!, file!] as const,
)

/** Whether a file declares a function, a value, a type or a method of this name. */
function declares(source: string, symbol: string): boolean {
  const declaration = new RegExp(`\\b(?:function\\*?|const|let|class|interface|type)\\s+${symbol}\\b`)
  const member = new RegExp(`^\\s+(?:async\\s+)?\\*?${symbol}(?:\\(|:|,$)`, 'm')
  return declaration.test(source) || member.test(source)
}

test('every step of the walkthrough names a symbol that its file declares', () => {
  assert.ok(links.length > 20)
  const missing = links.filter(([symbol, file]) => {
    const path = join(ROOT, file)
    return !existsSync(path) || !declares(readFileSync(path, 'utf8'), symbol)
  })
  assert.deepEqual(missing, [])
})

test('an upload takes at most twelve steps', () => {
  const upload = text.slice(text.indexOf('## An upload'), text.indexOf('## A view'))
  const steps = [...upload.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number))
  assert.deepEqual(
    steps,
    steps.map((_, i) => i + 1),
  )
  assert.ok(steps.length > 0 && steps.length <= 12)
})

test('a symbol that is not there would be missed', () => {
  assert.equal(declares('export function other() {}', 'gone'), false)
  assert.equal(declares('const x = gone()', 'gone'), false)
})
