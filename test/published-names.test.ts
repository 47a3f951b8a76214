/** No documented command fetches a package by a name that we have not registered, as anyone could register it. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { ROOT } from './support/processes/process.ts'

const { packages } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
const names = Object.values(packages).join('|')

/** A package manager or runner with one of our names rather than a path. Not Wrangler, where the name is a database. */
const FETCHES = new RegExp(
  `\\b(?:npm (?:install|i|add|exec)|npx(?! wrangler )|pnpm (?:add|dlx)|yarn (?:add|dlx)|bunx|bun add|deno (?:add|run))\\b[^\\n|&;]*[\\s:](?:${names})(?![\\w/.-])`,
)

/** Our image by a name that would be looked up in a third-party registry. */
const LOOKED_UP =
  /(?<![\w./-])(?!localhost\/|registry\.example\/)(?:[\w.-]+\/)*pinhole(?:-server)?:(?:\d+\.|latest)/

it('does not tell users to fetch an unpublished package or image', async () => {
  const files = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*', 'examples/**/*', 'src/**/*.ts', 'bin/*'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
    withFileTypes: true,
  })
  let count = 0
  for (const file of files) {
    if (!file.isFile()) continue
    count++
    const path = join(file.parentPath, file.name)
    for (const line of (await readFile(path, 'utf8')).split('\n')) {
      assert.doesNotMatch(line, FETCHES, path)
      assert.doesNotMatch(line, LOOKED_UP, path)
    }
  }
  assert.ok(count > 500)
  assert.match('npm install --global pinhole', FETCHES)
  assert.match('npx pinhole upload *.png', FETCHES)
  for (const name of ['pinhole:0.2.0', 'somebody/pinhole:latest', 'ghcr.io/somebody/pinhole-server:1.2'])
    assert.match(`image: ${name}`, LOOKED_UP)
})
