/** Executables as the HTTP contract needs them: a single executable loads no module by NODE_OPTIONS, so it is built with it. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildExecutable } from '../../build/executable.ts'
import type { Env } from '../support/processes/process.ts'

export interface Variants {
  /** Settings without the module, and the name of the executable that has it; `null`: as released. */
  of(env: Env): Promise<{ settings: Env; name: string | null }>
}

/** They are made in `folder`, each when it is first asked for. */
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
