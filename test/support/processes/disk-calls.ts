/** Wraps calls to the disk of this process, so that they can be counted or fail. Also for programs, with `--import`. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...words: unknown[]) => unknown
type Calls = Record<string, Call>

export interface DiskCalls {
  /** Methods of open files. */
  handles: string[]
  /** Functions of `fs.promises`. */
  promises: string[]
  /** Functions of `fs` with a callback: each with the name that `before` gets. */
  callbacks?: Record<string, string>
}

/** `before` is told of each call. What it throws is how the call fails. Resolves when methods of file handles are wrapped too. */
export async function meetDiskCalls(
  { handles, promises, callbacks = {} }: DiskCalls,
  before: (call: string, words: unknown[]) => void | Promise<void>,
): Promise<void> {
  const meet = (calls: Calls, names: string[]) => {
    for (const name of names) {
      const original = calls[name]!
      calls[name] = async function (this: unknown, ...words: unknown[]) {
        await before(name, words)
        return original.apply(this, words)
      }
    }
  }
  const opening = fs.promises.open(process.execPath, 'r')
  meet(fs.promises as unknown as Calls, promises)
  const plain = fs as unknown as Calls
  for (const [name, told] of Object.entries(callbacks)) {
    const original = plain[name]!
    const met = (...words: unknown[]) => {
      try {
        before(told, words)
      } catch (error) {
        process.nextTick(words.at(-1) as Call, error)
        return
      }
      original(...words)
    }
    // `promisify` asks for these.
    plain[name] = Object.defineProperties(met, Object.getOwnPropertyDescriptors(original))
  }
  syncBuiltinESMExports()
  const handle = await opening
  meet(Object.getPrototypeOf(handle) as Calls, handles)
  await handle.close()
}
