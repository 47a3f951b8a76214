import assert from 'node:assert/strict'
import { it } from 'node:test'
import { glob } from 'tinyglobby'
import { sourcesOf } from '../../src/node/assets/list.ts'
import { ROOT } from '../../src/node/manifest.ts'
import { allImports, reachedFrom } from '../support/imports.ts'

it('counts a bundle as stale when any module that pages load has changed', async () => {
  const [imports, scripts] = await Promise.all([allImports(), glob('src/web/browser/*.ts', { cwd: ROOT })])
  const modules = new Set(scripts.flatMap((script) => [...reachedFrom(script, imports)]))
  const ours = [...modules].filter((module) => module.startsWith('src/'))
  assert.ok(ours.includes('src/proof-of-work.ts') && ours.includes('src/json.ts'), 'all is walked')
  const noticed = new Set(sourcesOf(ROOT))
  assert.deepEqual(
    ours.filter((module) => !noticed.has(module)),
    [],
  )
})
