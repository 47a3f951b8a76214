/** Puts the gate of `gate.ts` in front of this process's disk calls. */
import { passGate } from './gate.ts'
import { meetDiskCalls } from './processes/disk-calls.ts'

await meetDiskCalls(
  { handles: ['sync'], promises: ['rename', 'unlink', 'open', 'link', 'readdir', 'access', 'stat'] },
  passGate,
)
