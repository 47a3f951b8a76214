/** Has the calls of this process to its disk pass the gate of `gate.ts`. */
import { passGate } from './gate.ts'
import { meetDiskCalls } from './processes/disk-calls.ts'

await meetDiskCalls(
  { handles: ['sync'], promises: ['rename', 'unlink', 'open', 'link', 'readdir', 'access', 'stat'] },
  passGate,
)
