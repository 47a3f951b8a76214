/** Memory of a Worker during 30 concurrent uploads of 25 MB: of the whole workerd process, and of the Worker's isolate. */
import { readFileSync } from 'node:fs'
import { childrenOf, peakMegabytes, resetPeak } from '../../test/support/attack/process-costs.ts'
import { request } from '../../test/support/http.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { formOf } from '../../test/support/multipart.ts'
import { freePort } from '../../test/support/processes/caches.ts'
import { untilSome } from '../../test/support/until.ts'
import { startWorker } from '../../test/support/worker/worker-host.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'

const UPLOADS = 30
const IMAGE_BYTES = 26_214_400
const SAMPLE_MS = 20
/** The budget for drafts, plus data in flight. */
const MAX_BUFFERS_MB = 80

/** Memory in MB. */
interface Result {
  all: number
  buffers: number
  stored: number
}

export async function benchWorkers({ rounds }: BenchOptions): Promise<Figures> {
  const results: Result[] = []
  for (let round = 0; round < rounds; round++) results.push(await measure())
  const row = (label: string, key: keyof Result, unit: string, atMost?: number) => ({
    label,
    values: results.map((result) => result[key]),
    unit,
    atMost,
  })
  const measures = [
    row(`memory of workerd, ${UPLOADS} uploads at once`, 'all', 'MB'),
    row(`buffers of the isolate, ${UPLOADS} uploads at once`, 'buffers', 'MB', MAX_BUFFERS_MB),
    row(`of ${UPLOADS} stored, the others told that it is busy`, 'stored', 'uploads'),
  ]
  return { measures }
}

async function measure(): Promise<Result> {
  const inspectorPort = await freePort()
  const { url, stop } = await startWorker({}, { inspectorPort })
  const { body, contentType } = formOf(gif({ size: IMAGE_BYTES }))
  async function upload(index: number): Promise<number> {
    const headers = { 'Content-Type': contentType, 'CF-Connecting-IP': `198.51.100.${index + 1}` }
    const { status, text } = await request(url, 'POST', '/api/upload', { headers, body })
    if (status !== 201 && status !== 503) throw new Error(`${status}: ${text}`)
    return status
  }
  const isolate = await monitorIsolate(inspectorPort)
  try {
    // Warm up, so that lazily loaded code does not count.
    await request(url, 'GET', '/')
    const pid = await untilSome('workerd runs', async () => workerd())
    await upload(UPLOADS)
    resetPeak(pid)
    const statuses = await Promise.all(Array.from({ length: UPLOADS }, (_, index) => upload(index)))
    const stored = statuses.filter((status) => status === 201).length
    return { all: peakMegabytes(pid), buffers: isolate.maxBuffers(), stored }
  } finally {
    await isolate.close()
    await stop()
  }
}

/** Samples the memory of the Worker's isolate. `maxBuffers`: peak size of buffers outside V8's heap. Unit: MB. */
async function monitorIsolate(port: number): Promise<{ maxBuffers(): number; close(): Promise<void> }> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    id: string
    webSocketDebuggerUrl: string
  }[]
  const target = targets.find(({ id }) => id.startsWith('core:user:'))!
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  let max = 0
  let requests = 0
  const sample = () => socket.send(JSON.stringify({ id: ++requests, method: 'Runtime.getHeapUsage' }))
  socket.addEventListener('message', ({ data }) => {
    max = Math.max(max, JSON.parse(String(data)).result?.backingStorageSize ?? 0)
  })
  const timer = setInterval(sample, SAMPLE_MS)
  return {
    maxBuffers: () => max / 1e6,
    async close() {
      clearInterval(timer)
      socket.close()
      await new Promise((resolve) => socket.addEventListener('close', resolve))
    },
  }
}

/** PID of the only workerd that this process started. */
function workerd(): number | undefined {
  const [pid, ...others] = childrenOf(process.pid)!.filter((child) => nameOf(child) === 'workerd')
  return others.length > 0 ? undefined : pid
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}
