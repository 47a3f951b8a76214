/** Compiles `src` to `lib`, for Node strips no types under node_modules. In a checkout nothing needs it. */
import { spawnSync } from 'node:child_process'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIB, ROOT } from './places.ts'

/** The compiler rewrites imports, but not what is started or read by its address. */
const ADDRESS = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g

/** Nor imports in declarations. */
const IMPORT = /((?:\bfrom |\bimport\()(['"])\.[^'"]+)\.ts\2/g

/** Throws if the sources have mistakes. */
export async function compile(): Promise<void> {
  await rm(LIB, { recursive: true, force: true })
  const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'build/tsconfig.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (compiled.status !== 0) throw new Error('the sources do not compile')
  for await (const path of glob('**/*.{js,d.ts}', { cwd: LIB })) {
    const file = join(LIB, path)
    const code = await readFile(file, 'utf8')
    const adjusted = path.endsWith('.js')
      ? code.replaceAll(ADDRESS, '$1.js$2')
      : code.replaceAll(IMPORT, '$1.js$2')
    if (adjusted !== code) await writeFile(file, adjusted)
  }
}
