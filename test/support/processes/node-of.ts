/** Node versions other than the one that runs the tests. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './process.ts'

const run = promisify(execFile)

/** Environment for npm in another project, without the variables that npm sets for this project's scripts. */
export const NPM_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
)

/** Path of Node in this major version, installed with npm and cached between runs. */
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
  if (!(await works())) throw new Error(`npm did not install Node ${major}`)
  return node
}
