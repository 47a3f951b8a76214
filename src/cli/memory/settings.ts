/** What this machine remembers for its owner between commands: the address of the service. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import envPaths from 'env-paths'
import { jsonObject } from '../../json.ts'
import { UsageError } from '../exit.ts'

export interface Settings {
  /** Address of the service. */
  server?: string
}

export function settingsPath(): string {
  return join(envPaths('pinhole', { suffix: '' }).config, 'settings.json')
}

/** Throws a `UsageError` that names the file, if it is there and not valid. */
export function readSettings(path = settingsPath()): Settings {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`${path} can't be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  const server = serverIn(text)
  if (server === null) {
    throw new UsageError(`${path} is not valid. It should look like {"server": "https://pics.example"}.`)
  }
  return server === undefined ? {} : { server }
}

export async function writeSettings(settings: Settings, path = settingsPath()): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, `${JSON.stringify(settings, null, 2)}\n`)
}

/** `null` if these are not settings. */
function serverIn(text: string): string | undefined | null {
  const value = jsonObject(text)
  if (value === null) return null
  return value.server === undefined || typeof value.server === 'string' ? value.server : null
}
