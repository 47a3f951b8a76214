/** `node one-file.ts FILE [FREE]`: compresses one file and prints the cost. FREE: bytes of memory assumed to be free. */
import { openAsBlob } from 'node:fs'
import { extname } from 'node:path'
import { compress } from '../../src/client/node.ts'
import { peakMegabytes } from '../../test/support/attack/process-costs.ts'

const [path = '', free] = process.argv.slice(2)
if (free !== undefined) process.availableMemory = () => Number(free)
const type = extname(path) === '.png' ? 'image/png' : 'image/jpeg'
const before = process.cpuUsage()
const { blob, ...result } = await compress(await openAsBlob(path, { type }))
const { user, system } = process.cpuUsage(before)
const cost = {
  action: result.action,
  type: blob.type,
  fallback: result.fallback,
  bytesIn: result.bytesIn,
  bytesOut: blob.size,
  cpuSeconds: (user + system) / 1e6,
  // Not `resourceUsage`: its maximum includes the memory of the parent process at fork.
  peakMegabytes: peakMegabytes(process.pid),
}
process.stdout.write(JSON.stringify(cost))
