/** What a Worker takes of memory while 30 uploads of 25 MB come at once: all of workerd, and the Worker's own isolate. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from '../../test/support/http.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { formOf } from '../../test/support/multipart.ts'
import { freePort } from '../../test/support/processes/caches.ts'
import { untilSome } from '../../test/support/until.ts'
import { startWorker } from '../../test/support/worker/worker-host.ts'
import { memoryOf } from '../contestants/child.ts'
import type { BenchOptions } from '../load/options.ts'
import type { Figures } from '../report/figures.ts'

const UPLOADS = 30
const IMAGE_BYTES = 26_214_400
const LOOK_MS = 20
/** The budget of drafts, and what is on its way. */
const MOST_BUFFERS_MB = 80

/** Memory in MB. */
interface Seen {
  idle: number
  one: number
  all: number
  buffersOfOne: number
  buffersOfAll: number
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
    row('memory of workerd, idle', 'idle', 'MB'),
    row('memory of workerd, one upload', 'one', 'MB'),
    row(`memory of workerd, ${UPLOADS} uploads at once`, 'all', 'MB'),
    row('buffers of the isolate, one upload', 'buffersOfOne', 'MB'),
    row(`buffers of the isolate, ${UPLOADS} uploads at once`, 'buffersOfAll', 'MB', MOST_BUFFERS_MB),
    row(`of ${UPLOADS} stored, the others told that it is busy`, 'stored', 'uploads'),
  ]
  return { comparisons: [], measures }
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
    const idle = memoryOf(pid).resident
    await upload(UPLOADS)
    const [one, buffersOfOne] = [memoryOf(pid).peak, isolate.mostBuffers()]
    // proc(5): the highest mark begins anew.
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const statuses = await Promise.all(Array.from({ length: UPLOADS }, (_, nth) => upload(nth)))
    const stored = statuses.filter((status) => status === 201).length
    return { idle, one, all: memoryOf(pid).peak, buffersOfOne, buffersOfAll: isolate.mostBuffers(), stored }
  } finally {
    await isolate.close()
    await stop()
  }
}

/** Looks at the Worker's own isolate all the time. `mostBuffers`: outside V8's heap, since the start. Unit: MB. */
async function inspected(port: number): Promise<{ mostBuffers(): number; close(): Promise<void> }> {
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
    mostBuffers: () => most / 1e6,
    async close() {
      clearInterval(timer)
      socket.close()
      await new Promise((resolve) => socket.addEventListener('close', resolve))
    },
  }
}

/** The only one that this process has started. */
function workerd(): number | undefined {
  const children = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  const [pid, ...others] = children.filter((child) => nameOf(child) === 'workerd')
  return pid === undefined || others.length > 0 ? undefined : Number(pid)
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}
