/** What a Worker takes of memory while 30 uploads of 25 MB come at once: all of workerd, and the Worker's own isolate. */
import { readFileSync } from 'node:fs'
import { childrenOf, forgetPeak, peakMegabytes } from '../../test/support/attack/process-costs.ts'
import { request } from '../../test/support/http.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { formOf } from '../../test/support/multipart.ts'
import { freePort } from '../../test/support/processes/caches.ts'
import { untilSome } from '../../test/support/until.ts'
import { startWorker } from '../../test/support/worker/worker-host.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'

const UPLOADS = 30
const IMAGE_BYTES = 26_214_400
const LOOK_MS = 20
/** The budget of drafts, and what is on its way. */
const MAX_BUFFERS_MB = 80

/** Memory in MB. */
interface Seen {
  all: number
  buffers: number
  stored: number
}

export async function benchWorkers({ rounds }: BenchOptions): Promise<Figures> {
  const seen: Seen[] = []
  for (let round = 0; round < rounds; round++) seen.push(await measure())
  const row = (what: string, of: keyof Seen, unit: string, atMost?: number) => ({
    what,
    values: seen.map((each) => each[of]),
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

async function measure(): Promise<Seen> {
  const inspectorPort = await freePort()
  const { url, stop } = await startWorker({}, { inspectorPort })
  const { body, contentType } = formOf(gif({ size: IMAGE_BYTES }))
  async function upload(nth: number): Promise<number> {
    const headers = { 'Content-Type': contentType, 'CF-Connecting-IP': `198.51.100.${nth + 1}` }
    const { status, text } = await request(url, 'POST', '/api/upload', { headers, body })
    if (status !== 201 && status !== 503) throw new Error(`${status}: ${text}`)
    return status
  }
  const isolate = await inspected(inspectorPort)
  try {
    // Code that is loaded at the first use is none of an upload's.
    await request(url, 'GET', '/')
    const pid = await untilSome('workerd runs', async () => workerd())
    await upload(UPLOADS)
    forgetPeak(pid)
    const statuses = await Promise.all(Array.from({ length: UPLOADS }, (_, nth) => upload(nth)))
    const stored = statuses.filter((status) => status === 201).length
    return { all: peakMegabytes(pid), buffers: isolate.maxBuffers(), stored }
  } finally {
    await isolate.close()
    await stop()
  }
}

/** Looks at the Worker's own isolate all the time. `maxBuffers`: outside V8's heap, since the start. Unit: MB. */
async function inspected(port: number): Promise<{ maxBuffers(): number; close(): Promise<void> }> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    id: string
    webSocketDebuggerUrl: string
  }[]
  const target = targets.find(({ id }) => id.startsWith('core:user:'))!
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  let most = 0
  let asked = 0
  const ask = () => socket.send(JSON.stringify({ id: ++asked, method: 'Runtime.getHeapUsage' }))
  socket.addEventListener('message', ({ data }) => {
    most = Math.max(most, JSON.parse(String(data)).result?.backingStorageSize ?? 0)
  })
  const timer = setInterval(ask, LOOK_MS)
  return {
    maxBuffers: () => most / 1e6,
    async close() {
      clearInterval(timer)
      socket.close()
      await new Promise((resolve) => socket.addEventListener('close', resolve))
    },
  }
}

/** The only one that this process has started. */
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
