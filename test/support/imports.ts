/** Parses the imports of source files. */
import { readFile } from 'node:fs/promises'
import { posix, relative } from 'node:path'
import { glob } from 'tinyglobby'
import { ROOT } from './processes/process.ts'

export interface Import {
  /** Relative to the repository root, e.g. `src/http/app.ts`. */
  from: string
  /** Likewise for a file of the project; otherwise as written, e.g. `node:fs/promises`. */
  to: string
  /** Whether stripping types removes the import. */
  typeOnly: boolean
}

const STATIC = /^[ \t]*(import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?['"]([^'"]+)['"]/gm
const DYNAMIC = /\b(?:import|require|import\.meta\.resolve)\(\s*['"]([^'"]+)['"]/g
/** A file referenced by URL: `new URL('./worker.ts', import.meta.url)`. */
const BY_URL = /\bnew URL\(\s*['"](\.[^'"]+\.ts)['"],\s*import\.meta\.url/g
const TYPE_IMPORT = /:\s*import\(\s*['"]([^'"]+)['"]\s*\)\s*\.|\|\s*import\(\s*['"]([^'"]+)['"]\s*\)\s*\./g

export function importsOf(from: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^[ \t]*\/\/.*$/gm, '')
  const types = [...code.matchAll(TYPE_IMPORT)].map(([, a, b]) => (a ?? b)!)
  const dynamics = [...code.matchAll(DYNAMIC)].map(([, to]) => to!)
  for (const type of types) dynamics.splice(dynamics.indexOf(type), 1)
  const file = (to: string, typeOnly: boolean): Import => ({
    from,
    to: to.startsWith('.') ? posix.join(posix.dirname(from), to) : to,
    typeOnly,
  })
  return [
    ...[...code.matchAll(STATIC)]
      .filter(([, , , names, to]) => names !== undefined || to !== undefined)
      .map(([, , type, names, to]) => file(to!, type !== undefined || allTypes(names))),
    ...types.map((to) => file(to, true)),
    ...dynamics.map((to) => file(to, false)),
    ...[...code.matchAll(BY_URL)].map(([, to]) => file(to!, false)),
  ]
}

function allTypes(names: string | undefined): boolean {
  const inside = /^\{([\s\S]*)\}$/.exec(names?.trim() ?? '')?.[1]
  const parts = inside?.split(',').filter((part) => part.trim() !== '')
  return parts !== undefined && parts.length > 0 && parts.every((part) => /^\s*type\s/.test(part))
}

/** Every import of every file under `src/`. */
export async function allImports(): Promise<Import[]> {
  const files = await glob('src/**/*.{ts,tsx,js,mjs}', { cwd: ROOT })
  const lists = await Promise.all(
    files.map(async (file) => importsOf(relative('', file), await readFile(`${ROOT}/${file}`, 'utf8'))),
  )
  return lists.flat()
}

/** All files that `start` imports, directly or transitively, without type-only imports. */
export function reachedFrom(start: string, imports: Import[]): Set<string> {
  const bySource = Map.groupBy(
    imports.filter(({ typeOnly }) => !typeOnly),
    ({ from }) => from,
  )
  const reached = new Set([start])
  for (const at of reached) for (const { to } of bySource.get(at) ?? []) reached.add(to)
  return reached
}
