/** Many concurrent slow uploads of large files: memory of the server, and latency of GETs meanwhile. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startPinhole, UNLIMITED } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { largePictures, noisePicture } from '../load/pictures.ts'
import { probe } from '../load/timed-get.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'
import { percentile } from '../report/statistics.ts'
import type { TrickleReport } from './trickle-clients.ts'

const GET_BYTES = 204_800
const SAMPLE_MS = 100
/** Length of the slow phase. Then the clients send the rest as fast as they can, so they all finish at about the same time. */
const SLOW_SECONDS = 60
const BYTES_PER_SECOND = 150_000
const QUIET_SECONDS = 5

export async function benchTrickle({ dir, clients }: BenchOptions): Promise<Figures> {
  const server = await startPinhole(path.join(dir, 'pinhole'), UNLIMITED)
  try {
    const picture = await noisePicture(GET_BYTES)
    const url = `${server.url}/raw/${await upload(server.url, picture)}`
    const files: string[] = []
    for (const [index, bytes] of (await largePictures()).entries()) {
      files.push(path.join(dir, `large-${index}`))
      await writeFile(files[index]!, bytes)
    }
    const quiet = await probe(url, AbortSignal.timeout(QUIET_SECONDS * 1000))

    const memory = sampleMemory(server)
    const load = fork(path.join(import.meta.dirname, 'trickle-clients.ts'), [
      server.url,
      String(clients),
      String(BYTES_PER_SECOND),
      String(SLOW_SECONDS),
      ...files,
    ])
    const [slow, fast] = [new AbortController(), new AbortController()]
    const reported = new Promise<TrickleReport>((resolve, reject) => {
      load.on('message', (message: 'hurrying' | TrickleReport) => {
        if (message === 'hurrying') slow.abort()
        else resolve(message)
      })
      load.once('exit', () => reject(new Error('the trickling clients died')))
    })
    const ended = once(load, 'exit')
    reported.finally(() => fast.abort()).catch(() => slow.abort())
    const whileSlow = await probe(url, slow.signal)
    const slowPeak = Math.max(...memory.samples)
    const whileFast = await probe(url, fast.signal)
    const report = await reported
    await ended
    memory.stop()
    if (report.stored !== clients)
      throw new Error(`${report.stored} of ${clients} stored: ${report.failures}`)

    const wait = (label: string, values: number[], atMost?: number) => ({
      label: `GET 200 KB ${label}, p99`,
      values: [percentile(values, 0.99)],
      unit: 'ms',
      atMost,
    })
    const memoryWhen = (label: string, value: number) => ({
      label: `memory, ${label}`,
      values: [value],
      unit: 'MB',
      atMost: 250,
    })
    return {
      measures: [
        memoryWhen(`${clients} uploads trickle`, slowPeak),
        memoryWhen('highest ever, they end at once', server.memory().peak),
        wait('alone', quiet),
        wait(`beside ${clients} slow uploads`, whileSlow, 100),
        wait('while they end', whileFast, 500),
      ],
    }
  } finally {
    await server.stop()
  }
}

function sampleMemory(server: Child): { samples: number[]; stop(): void } {
  const samples = [server.memory().resident]
  const timer = setInterval(() => samples.push(server.memory().resident), SAMPLE_MS)
  return { samples, stop: () => clearInterval(timer) }
}
