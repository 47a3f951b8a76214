/** Other versions of Node than the one that the tests run on. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './process.ts'

const run = promisify(execFile)

/** For npm in another project: what npm sets for the scripts of this one must not reach it. */
export const NPM_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
)

/** Node of a major version, by npm, kept between runs. */
export async function nodeOf(major: number): Promise<string> {
  const home = join(ROOT, `node_modules/.cache/node-${major}`)
  const node = join(home, 'node_modules/node/bin/node')
  const works = () =>
    run(node, ['--version']).then(
      ({ stdout }) => stdout.startsWith(`v${major}.`),
      () => false,
    )
  if (await works()) return node
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, `node@${major}`], {
    cwd: home,
    env: NPM_ENV,
  })
  if (!(await works())) throw new Error(`npm brought no Node ${major}`)
  return node
}
