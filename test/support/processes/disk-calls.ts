/** Intercepts this process's disk calls, to count them or make them fail. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...args: unknown[]) => unknown
type Calls = Record<string, Call>

export interface DiskCalls {
  /** Methods of open files. */
  handles: string[]
  /** Functions of `fs.promises`. */
  promises: string[]
  /** Callback functions of `fs`, mapped to the name that is passed to `before`. */
  callbacks?: Record<string, string>
}

/**
 * Calls `before` ahead of each call; if it throws, the call fails with that error. Resolves when methods of file handles are
 * wrapped too.
 */
export async function interceptDiskCalls(
  { handles, promises, callbacks = {} }: DiskCalls,
  before: (call: string, args: unknown[]) => void | Promise<void>,
): Promise<void> {
  const wrap = (calls: Calls, names: string[]) => {
    for (const name of names) {
      const original = calls[name]!
      calls[name] = async function (this: unknown, ...args: unknown[]) {
        await before(name, args)
        return original.apply(this, args)
      }
    }
  }
  const opening = fs.promises.open(process.execPath, 'r')
  wrap(fs.promises as unknown as Calls, promises)
  const plain = fs as unknown as Calls
  for (const [name, reportedName] of Object.entries(callbacks)) {
    const original = plain[name]!
    const wrapped = (...args: unknown[]) => {
      try {
        before(reportedName, args)
      } catch (error) {
        process.nextTick(args.at(-1) as Call, error)
        return
      }
      original(...args)
    }
    // `promisify` needs these.
    plain[name] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original))
  }
  syncBuiltinESMExports()
  const handle = await opening
  wrap(Object.getPrototypeOf(handle) as Calls, handles)
  await handle.close()
}
