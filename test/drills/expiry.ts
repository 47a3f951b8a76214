/** Drill: ten thousand images expire in the same minute behind a cache, under views and with a kill in between. */
import { readdir } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { forEachConcurrent } from '../../src/async.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { CACHES, freePort } from '../support/processes/caches.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { cacheSkipReason, type Drill, type Tally } from './drill.ts'

const MINUTE_MS = 60_000
/** Tolerated delay of caches. Unit: milliseconds. */
const MAX_LATE_MS = 1000
const VIEWERS = 64
const VIEWS_PER_SECOND = 1000

interface Image {
  id: string
  expiresAt: number
}

export function expiry(name: 'varnish' | 'nginx'): Drill {
  return {
    name: `expiry, ${name}`,
    story: '10,000 images expire within one minute under 1,000 views a second, with a kill in the middle.',
    mayFail: true,
    skip: () => cacheSkipReason(name),
    run: (rounds) => run(name, rounds === 1 ? 500 : 10_000),
  }
}

async function run(name: 'varnish' | 'nginx', count: number): Promise<Tally> {
  const port = await freePort()
  const env = {
    // Fixed, so that the cache finds the server again after the kill.
    PORT: `${await freePort()}`,
    CDN_URL: `${name}://127.0.0.1:${port}?fill=8`,
    UPLOADS_PER_DAY: '1000000',
    LOG_LEVEL: 'error',
  }
  const server = await startServer(env)
  const cache = await CACHES[name].start(port, server.port)
  const tally: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
  try {
    const { images, begin } = await upload(server, count, tally)
    const viewing = view([server.url, cache.url], images, begin + 2 * MINUTE_MS, tally)
    await sleep(begin + MINUTE_MS / 2 - Date.now())
    await server.kill()
    await server.restart()
    await viewing
    const files = new Set(await readdir(join(server.dataDir, 'images/objects')))
    const remaining = images.filter(({ id }) => files.has(id)).length
    if (remaining > 0) tally.faults.push(`${remaining} images are still on disk a minute after they expired`)
    for (const { id } of images) {
      for (const url of [server.url, cache.url]) {
        const { status } = await request(url, 'GET', `/raw/${id}`)
        if (status !== 404) tally.risen++
      }
    }
    return tally
  } finally {
    await cache.stop()
    await server.stop()
  }
}

/** `begin`: start of the minute in which all images expire, epoch milliseconds. */
async function upload(server: RunningServer, count: number, tally: Tally) {
  const images: Image[] = []
  let begin = Date.now() + 24 * 60 * MINUTE_MS
  const startedAt = Date.now()

  async function store(index: number): Promise<void> {
    const seconds = Math.ceil((begin + (index / count) * MINUTE_MS - Date.now()) / 1000)
    if (seconds < 60) throw new Error('uploads are too slow on this machine for this drill')
    const { body, contentType } = formOf(gif({ size: 300 + (index % 500) }))
    const headers = { 'Content-Type': contentType, 'X-Forwarded-For': `198.51.100.${index % 250}` }
    const answer = await request(server.url, 'POST', `/api/upload?expires=${seconds}`, { headers, body })
    if (answer.status !== 201) throw new Error(`an upload failed with ${answer.status}`)
    const { id, expires } = answer.json()
    images.push({ id, expiresAt: Date.parse(expires) })
    tally.acknowledged++
  }

  // The upload rate of a sample determines when the minute can start.
  const samples = Math.ceil(count / 20)
  const work = (images: number) => forEachConcurrent([...Array(images).keys()], 12, store)
  await work(samples)
  const remainingMs = ((Date.now() - startedAt) / samples) * (count - samples)
  begin = Date.now() + 2 * remainingMs + 70_000
  images.length = 0
  await work(count)
  return { images, begin }
}

/** Views images at a steady rate. An image that is visible too long or gone too early is a fault. */
async function view(urls: string[], images: Image[], end: number, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: VIEWERS })
  const durations: number[] = []
  const startedAt = Date.now()
  let views = 0

  async function viewOne(): Promise<void> {
    const { id, expiresAt } = images[Math.floor(Math.random() * images.length)]!
    const url = urls[views % urls.length]!
    const sentAt = Date.now()
    const status = await statusOf(`${url}/raw/${id}`, agent)
    const doneAt = Date.now()
    if (status === null || status >= 500) {
      tally.errors++
      return
    }
    durations.push(doneAt - sentAt)
    if (status === 200 && sentAt >= expiresAt + MAX_LATE_MS) {
      tally.faults.push(`${url}: shown ${sentAt - expiresAt} ms after it expired`)
    } else if (status === 404 && doneAt < expiresAt) {
      tally.lost++
      tally.faults.push(`${url}: gone ${expiresAt - doneAt} ms before it expired`)
    }
  }

  await Promise.all(
    Array.from({ length: VIEWERS }, async () => {
      while (Date.now() < end) {
        const due = startedAt + (views / VIEWS_PER_SECOND) * 1000
        views++
        await sleep(Math.max(0, due - Date.now()))
        await viewOne()
      }
    }),
  )
  agent.destroy()
  durations.sort((a, b) => a - b)
  const percentile = (share: number) => durations[Math.floor(share * (durations.length - 1))]
  process.stderr.write(
    `  ${durations.length} views in ${Math.round((Date.now() - startedAt) / 1000)} s: ` +
      `median ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, max ${percentile(1)} ms\n`,
  )
  tally.faults.splice(10)
}

/** `null` if there was no response. */
function statusOf(url: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    get(url, { agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? null))
      answer.on('error', () => resolve(null))
    }).on('error', () => resolve(null))
  })
}
