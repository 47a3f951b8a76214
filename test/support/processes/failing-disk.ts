/**
 * Preload for a server (`--import`): makes a disk call fail. The file FAILING_DISK says which, as `<call> <number> <code>`. For
 * example, `sync 2 EIO` makes the second `sync` from now fail once. With `0`, every such call fails until the file is removed.
 */
import fs from 'node:fs'
import { interceptDiskCalls } from './disk-calls.ts'

const order = process.env.FAILING_DISK!
let left = new Map<string, number>()

/** Throws if this call is to fail. */
function failIfOrdered(call: string): void {
  let text: string
  try {
    text = fs.readFileSync(order, 'utf8')
  } catch {
    left = new Map()
    return
  }
  const [failingCall, number, code] = text.trim().split(' ')
  if (failingCall !== call) return
  const remaining = left.get(text) ?? Number(number)
  left.set(text, remaining - 1)
  if (Number(number) !== 0 && remaining !== 1) return
  throw Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
}

// Done before a server opens any file. Not awaited: modules of a single executable have no top-level await.
void interceptDiskCalls(
  {
    handles: ['write', 'writev', 'appendFile', 'sync', 'datasync'],
    promises: ['rename', 'open', 'unlink'],
    callbacks: { open: 'open', write: 'write', writev: 'writev', fsync: 'sync', fdatasync: 'log' },
  },
  failIfOrdered,
)
