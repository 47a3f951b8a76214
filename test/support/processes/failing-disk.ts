/**
 * Loaded into a server with `--import`: makes one call to the disk fail. The file that FAILING_DISK names says which,
 * as `<call> <number> <code>`, e.g. `sync 2 EIO`: the second `sync` from now fails, once. `0`: each fails, until the
 * file is gone.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...words: unknown[]) => unknown
type Calls = Record<string, Call>

const order = process.env.FAILING_DISK!
let left = new Map<string, number>()

/** Throws if it is this call's turn. */
function meet(call: string): void {
  let text: string
  try {
    text = fs.readFileSync(order, 'utf8')
  } catch {
    left = new Map()
    return
  }
  const [wanted, number, code] = text.trim().split(' ')
  if (wanted !== call) return
  const turn = left.get(text) ?? Number(number)
  left.set(text, turn - 1)
  if (Number(number) !== 0 && turn !== 1) return
  throw Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
}

function failSometimes(calls: Calls, names: string[]): void {
  for (const name of names) {
    const original = calls[name]!
    calls[name] = async function (this: unknown, ...words: unknown[]) {
      meet(name)
      return original.apply(this, words)
    }
  }
}

/** The same for calls that take a callback. `names`: of the calls, and what the order calls them. */
function failCallbacks(calls: Calls, names: Record<string, string>): void {
  for (const [name, ordered] of Object.entries(names)) {
    const original = calls[name]!
    const failing = (...words: unknown[]) => {
      try {
        meet(ordered)
      } catch (error) {
        process.nextTick(words.at(-1) as Call, error)
        return
      }
      original(...words)
    }
    // `promisify` asks for these.
    calls[name] = Object.defineProperties(failing, Object.getOwnPropertyDescriptors(original))
  }
}

// Done before a server has opened anything. Not waited for: a module of a single executable can't.
fs.promises.open(process.execPath, 'r').then((handle) => {
  failSometimes(Object.getPrototypeOf(handle) as Calls, ['write', 'writev', 'appendFile', 'sync', 'datasync'])
  return handle.close()
})
failSometimes(fs.promises as unknown as Calls, ['rename', 'open', 'unlink'])
failCallbacks(fs as unknown as Calls, {
  open: 'open',
  write: 'write',
  writev: 'writev',
  fsync: 'sync',
  fdatasync: 'log',
})
syncBuiltinESMExports()
