/**
 * Loaded into a server with `--import`: makes one call to the disk fail. The file that FAILING_DISK names says which,
 * as `<call> <number> <code>`, e.g. `sync 2 EIO`: the second `sync` from now fails, once. `0`: each fails, until the
 * file is gone.
 */
import fs from 'node:fs'
import { meetDiskCalls } from './disk-calls.ts'

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

// Done before a server has opened anything. Not waited for: a module of a single executable can't.
void meetDiskCalls(
  {
    handles: ['write', 'writev', 'appendFile', 'sync', 'datasync'],
    promises: ['rename', 'open', 'unlink'],
    callbacks: { open: 'open', write: 'write', writev: 'writev', fsync: 'sync', fdatasync: 'log' },
  },
  meet,
)
