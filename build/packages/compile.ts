/** Compiles `src`, for Node strips no types under node_modules. In a checkout nothing needs it. */
import { spawnSync } from 'node:child_process'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** The compiler rewrites imports, but not what is started or read by its address. */
const ADDRESS = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g

/** Nor imports in declarations. */
const IMPORT = /((?:\bfrom |\bimport\()(['"])\.[^'"]+)\.ts\2/g

/** Throws if the sources have mistakes. `lib`: the folder that it goes to. */
export async function compile(lib: string): Promise<void> {
  const words = ['-p', 'build/tsconfig.json', '--outDir', lib]
  const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), words, { cwd: ROOT, stdio: 'inherit' })
  if (compiled.status !== 0) throw new Error('the sources do not compile')
  for await (const path of glob('**/*.{js,d.ts}', { cwd: lib })) {
    const file = join(lib, path)
    const code = await readFile(file, 'utf8')
    const adjusted = path.endsWith('.js')
      ? code.replaceAll(ADDRESS, '$1.js$2')
      : code.replaceAll(IMPORT, '$1.js$2')
    if (adjusted !== code) await writeFile(file, adjusted)
  }
}
