/**
 * Loaded into a command with `--import`: kills its process with -9 just before the call to the disk that DIE_AT counts,
 * the first being 0. Renames, flushes, files opened to be written, files removed.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...words: unknown[]) => unknown

let left = Number(process.env.DIE_AT)

function count(): void {
  if (left-- === 0) process.kill(process.pid, 'SIGKILL')
}

function patch(calls: Record<string, Call>, names: string[]): void {
  for (const name of names) {
    const original = calls[name]!
    const counted = function (this: unknown, ...words: unknown[]) {
      const isRead = name === 'open' && (words[1] === 'r' || words[1] === undefined)
      if (!isRead) count()
      return original.apply(this, words)
    }
    // `promisify` asks for these.
    calls[name] = Object.defineProperties(counted, Object.getOwnPropertyDescriptors(original))
  }
}

const handle = await fs.promises.open(process.execPath, 'r')
patch(Object.getPrototypeOf(handle), ['sync', 'appendFile', 'writeFile'])
await handle.close()
patch(fs.promises as unknown as Record<string, Call>, ['rename', 'open', 'unlink', 'rm', 'link'])
patch(fs as unknown as Record<string, Call>, ['open', 'fsync', 'fdatasync'])
syncBuiltinESMExports()
