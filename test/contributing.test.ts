/** What CONTRIBUTING.md tells people to run is there. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/processes/process.ts'

const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')

test('each npm script is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[a-z:]+)/g)].map(([, name]) => name!)
  assert.ok(named.length > 10)
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(scripts, name)),
    [],
  )
})

test('each example of a pattern fits a test file that runs daily', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/*.long.test.ts'] })
  const patterns = [...text.matchAll(/npm (?:test --|run test:watch) ([a-z][\w/-]*)/g)].map(([, one]) => one!)
  assert.ok(patterns.length >= 2)
  assert.deepEqual(
    patterns.filter((pattern) => !files.some((file) => file.includes(pattern))),
    [],
  )
})
