/** Puts the gate of `gate.ts` in front of this process's disk calls. */
import { passGate } from './gate.ts'
import { interceptDiskCalls } from './processes/disk-calls.ts'

await interceptDiskCalls(
  { handles: ['sync'], promises: ['rename', 'unlink', 'open', 'link', 'readdir', 'access', 'stat'] },
  passGate,
)
