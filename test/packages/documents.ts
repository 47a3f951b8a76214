/** A package's documentation: its README, its manual page, and its links. */
import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { manifest } from '../../build/packages/paths.ts'
import { type Installed, NAMES, run } from './installed.ts'

const LINK = /\]\(([^)\s]+)\)/g

export function documents(installed: Record<'client' | 'server', Installed>): void {
  describe('documents', () => {
    for (const [kind, { folder }] of Object.entries(installed)) {
      const name = NAMES[kind as keyof typeof NAMES]
      const home = join(folder, 'node_modules', name)

      test(`${kind}: has its own README, with an install command`, async () => {
        const text = await readFile(join(home, 'README.md'), 'utf8')
        const { version, published } = manifest
        const spec = published ? name : `./${name}-${version}.tgz`
        assert.ok(text.includes(`npm install --global ${spec}`), text)
        assert.doesNotMatch(text, /\{\{/)
        // By name only if a registry has it.
        if (!published)
          assert.doesNotMatch(text, new RegExp(`(?:npm install(?: --global)?|npx) ${name}(?![\\w/.-])`))
      })

      test(`${kind}: has no dead links`, async () => {
        let links = 0
        for (const file of globSync('{,docs/}*.md', { cwd: home })) {
          // Other projects' texts.
          if (file.startsWith('THIRD-PARTY')) continue
          for (const [, target = ''] of (await readFile(join(home, file), 'utf8')).matchAll(LINK)) {
            if (/^(?:https?:|#)/.test(target)) continue
            links++
            assert.ok(existsSync(join(home, dirname(file), target.replace(/#.*/, ''))), `${file}: ${target}`)
          }
        }
        assert.ok(links >= 3, `${links}`)
      })
    }

    test('the command has a manual page that covers all subcommands', async (t) => {
      const home = join(installed.client.folder, 'node_modules', NAMES.client)
      const { man } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
      const page = join(home, man[0])
      const text = await readFile(page, 'utf8')
      for (const command of ['upload', 'delete', 'list', 'compress', 'use', 'serve', 'completion'])
        assert.match(text, new RegExp(`^\\.SS pinhole ${command}`, 'm'))
      const args = ['-ww', '-man', '-z', page]
      const output = await run('groff', args).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        return t.skip('groff is not on this machine')
      })
      if (output) assert.deepEqual([output.stdout, output.stderr], ['', ''])
    })
  })
}
