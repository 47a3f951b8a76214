/** Builds executables with preloaded modules for the HTTP contract: a single executable ignores NODE_OPTIONS. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildExecutable } from '../../build/executable.ts'
import type { Env } from '../support/processes/process.ts'

export interface Variants {
  /** The settings without NODE_OPTIONS, and the name of the executable that contains its module; `null`: the released one. */
  of(env: Env): Promise<{ settings: Env; name: string | null }>
}

/** Builds into `folder`, each variant on first use. */
export function variantsIn(folder: string): Variants {
  const made = new Map<string, Promise<string>>()
  return {
    async of({ NODE_OPTIONS, ...settings }) {
      if (NODE_OPTIONS === undefined) return { settings, name: null }
      const module = fileURLToPath(NODE_OPTIONS.replace('--import ', ''))
      let name = made.get(module)
      if (name === undefined) {
        const file = `pinhole-server-${made.size + 1}`
        name = buildExecutable('linux-x64', join(folder, file), [module]).then(() => file)
        made.set(module, name)
      }
      return { settings, name: await name }
    },
  }
}
