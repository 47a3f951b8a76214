/**
 * A process that dies, as its disk sees it: from one call on, none is carried out any more. In this process, so that a
 * test can try every call of an act.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...words: unknown[]) => unknown

let left: number | null = null

/** Runs `act` and dies just before its `step`-th call. True if it had so many. */
export async function dyingAt(step: number, act: () => Promise<unknown>): Promise<boolean> {
  left = step
  try {
    await act()
  } catch (error) {
    if (left > 0) throw error
  }
  const died = left < 0
  left = null
  return died
}

function patch(calls: Record<string, Call>, names: string[]): void {
  for (const name of names) {
    const original = calls[name]!
    calls[name] = async function (this: unknown, ...words: unknown[]) {
      if (left !== null && left-- <= 0) {
        left = -1
        throw new Error('this process died')
      }
      return original.apply(this, words)
    }
  }
}

const handle = await fs.promises.open(process.execPath, 'r')
patch(Object.getPrototypeOf(handle), ['sync'])
await handle.close()
patch(fs.promises as unknown as Record<string, Call>, ['rename', 'unlink', 'open'])
syncBuiltinESMExports()
