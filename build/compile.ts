/** Compiles `src` to `lib`, for Node strips no types under node_modules. In a checkout nothing needs it. */
import { spawnSync } from 'node:child_process'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'lib')

await rm(OUT, { recursive: true, force: true })
const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'build/tsconfig.json'], {
  cwd: ROOT,
  stdio: 'inherit',
})
if (compiled.status !== 0) process.exit(1)

/** The compiler rewrites imports, but not what is started or read by its address. */
const ADDRESS = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g
for await (const path of glob('**/*.js', { cwd: OUT })) {
  const file = join(OUT, path)
  const code = await readFile(file, 'utf8')
  const adjusted = code.replaceAll(ADDRESS, '$1.js$2')
  if (adjusted !== code) await writeFile(file, adjusted)
}
