/**
 * `node bench/attack/hostile-images.ts [WORD…] [--megabytes 25]`: the cost of inspecting each hostile image, alone and four
 * concurrently. The images are in files, like uploads.
 */
import { mkdtempDisposable, open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { ByteSource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { hostileImages } from '../../test/support/images/hostile.ts'

const MAX_STALL = 100
const MAX_STALL_OF_FOUR = 150
const MAX_SECONDS_PER_MEGABYTE = 0.1

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { megabytes: { type: 'string', default: '25' } },
})
const size = Number(flags.megabytes) * 1e6

interface Cost {
  /** Maximum CPU time between two turns of the event loop: the delay for others on an idle machine. Unit: ms. */
  stall: number
  /** CPU time of all threads. Unit: seconds. */
  cpu: number
  outcome: string
}

async function costOf(file: string, concurrency: number): Promise<Cost> {
  const handle = await open(file)
  try {
    const source: ByteSource = {
      size: (await handle.stat()).size,
      async read(offset, length) {
        const bytes = new Uint8Array(length)
        const { bytesRead } = await handle.read(bytes, 0, length, offset)
        return bytes.subarray(0, bytesRead)
      },
    }
    globalThis.gc?.()
    let stall = 0
    let last = process.threadCpuUsage()
    const sample = () => {
      const { user, system } = process.threadCpuUsage(last)
      stall = Math.max(stall, (user + system) / 1000)
      last = process.threadCpuUsage()
      if (isRunning) setImmediate(sample)
    }
    let isRunning = true
    setImmediate(sample)
    const before = process.cpuUsage()
    const outcomes = await Promise.all(
      Array.from({ length: concurrency }, () =>
        inspect(source).then(
          ({ segments }) => `kept in ${segments.length}`,
          (error: Error) => error.message,
        ),
      ),
    )
    isRunning = false
    sample()
    const { user, system } = process.cpuUsage(before)
    return { stall, cpu: (user + system) / 1e6 / concurrency, outcome: outcomes[0] ?? '' }
  } finally {
    await handle.close()
  }
}

await using temporary = await mkdtempDisposable(path.join(tmpdir(), 'pinhole-hostile-'))
const folder = temporary.path
const picked = Object.entries(await hostileImages(size)).filter(([name]) =>
  positionals.every((word) => name.includes(word)),
)
let over = 0
console.log('| image | MB | stall, ms | stall of four, ms | processor, ms a MB | outcome |')
console.log('|---|---:|---:|---:|---:|---|')
for (const [name, make] of picked) {
  const file = path.join(folder, 'image')
  const bytes = await make()
  await writeFile(file, bytes)
  const megabytes = bytes.length / 1e6
  await costOf(file, 1)
  const one = await costOf(file, 1)
  const four = await costOf(file, 4)
  const perMegabyte = one.cpu / Math.max(1, megabytes)
  const isOver =
    one.stall > MAX_STALL || four.stall > MAX_STALL_OF_FOUR || perMegabyte > MAX_SECONDS_PER_MEGABYTE
  if (isOver) over++
  const figures = [megabytes, one.stall, four.stall, perMegabyte * 1000].map((value) => value.toFixed(1))
  console.log(`| ${name}${isOver ? ' **over**' : ''} | ${figures.join(' | ')} | ${one.outcome} |`)
}
console.log(
  `\n${picked.length} images, ${over} beyond ${MAX_STALL} ms, ${MAX_STALL_OF_FOUR} ms or ${MAX_SECONDS_PER_MEGABYTE * 1000} ms a MB`,
)
if (over > 0) process.exitCode = 1
