import assert from 'node:assert/strict'
import { it } from 'node:test'
import { glob } from 'tinyglobby'
import { sourcesOf } from '../../src/node/assets/list.ts'
import { ROOT } from '../../src/node/manifest.ts'
import { allImports, reachedFrom } from '../support/imports.ts'

it('detects a stale bundle when any module that pages load has changed', async () => {
  const [imports, scripts] = await Promise.all([allImports(), glob('src/web/browser/*.ts', { cwd: ROOT })])
  const modules = new Set(scripts.flatMap((script) => [...reachedFrom(script, imports)]))
  const expected = [...modules].filter((module) => module.startsWith('src/'))
  assert.ok(
    expected.includes('src/proof-of-work.ts') && expected.includes('src/json.ts'),
    'the import graph is complete',
  )
  const tracked = new Set(sourcesOf(ROOT))
  assert.deepEqual(
    expected.filter((module) => !tracked.has(module)),
    [],
  )
})
