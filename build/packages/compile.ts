/** Compiles `src`, because Node strips no types under node_modules. A checkout does not need this. */
import { spawnSync } from 'node:child_process'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** The compiler rewrites import specifiers, but not URLs of files that are started or read. */
const FILE_URL = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g

/** Import specifiers in declarations, which the compiler does not rewrite either. */
const IMPORT = /((?:\bfrom |\bimport\()(['"])\.[^'"]+)\.ts\2/g

/** Throws if the sources have errors. `lib`: the output folder. */
export async function compile(lib: string): Promise<void> {
  const args = ['-p', 'build/tsconfig.json', '--outDir', lib]
  const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: ROOT, stdio: 'inherit' })
  if (compiled.status !== 0) throw new Error('the sources do not compile')
  for await (const path of glob('**/*.{js,d.ts}', { cwd: lib })) {
    const file = join(lib, path)
    const code = await readFile(file, 'utf8')
    const adjusted = path.endsWith('.js')
      ? code.replaceAll(FILE_URL, '$1.js$2')
      : code.replaceAll(IMPORT, '$1.js$2')
    if (adjusted !== code) await writeFile(file, adjusted)
  }
}
