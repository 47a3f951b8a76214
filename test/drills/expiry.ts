/** Ten thousand images that expire in the same minute, behind a cache, while views go on and the server is killed. */
import { readdir } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { CACHES, freePort } from '../support/processes/caches.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { type Drill, type Tally, whyNoCache } from './drill.ts'

const MINUTE_MS = 60_000
/** What caches may be late. Unit: milliseconds. */
const LATE_MS = 1000
const VIEWERS = 64
const VIEWS_PER_SECOND = 1000

interface Image {
  id: string
  expiresAt: number
}

export function expiry(name: 'varnish' | 'nginx'): Drill {
  return {
    name: `expiry, ${name}`,
    story: '10,000 images expire in one minute, while 1,000 views a second go on; a kill in the middle.',
    mayFail: true,
    skip: () => whyNoCache(name),
    run: (rounds) => run(name, rounds === 1 ? 500 : 10_000),
  }
}

async function run(name: 'varnish' | 'nginx', count: number): Promise<Tally> {
  const port = await freePort()
  const env = {
    // The cache finds it there after the kill.
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
    const there = new Set(await readdir(join(server.dataDir, 'images/objects')))
    const left = images.filter(({ id }) => there.has(id)).length
    if (left > 0) tally.faults.push(`${left} images are on the disk a minute after their time`)
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

/** `begin`: of the minute in which all of them expire, epoch milliseconds. */
async function upload(server: RunningServer, count: number, tally: Tally) {
  const images: Image[] = []
  let begin = Date.now() + 24 * 60 * MINUTE_MS
  const startedAt = Date.now()

  async function store(nth: number): Promise<void> {
    const seconds = Math.ceil((begin + (nth / count) * MINUTE_MS - Date.now()) / 1000)
    if (seconds < 60) throw new Error('this machine takes uploads too slowly for the drill')
    const { body, contentType } = formOf(gif({ size: 300 + (nth % 500) }))
    const headers = { 'Content-Type': contentType, 'X-Forwarded-For': `198.51.100.${nth % 250}` }
    const answer = await request(server.url, 'POST', `/api/upload?expires=${seconds}`, { headers, body })
    if (answer.status !== 201) throw new Error(`an upload answers ${answer.status}`)
    const { id, expires } = answer.json()
    images.push({ id, expiresAt: Date.parse(expires) })
    tally.acknowledged++
  }

  // How fast it goes says when the minute can begin.
  const samples = Math.ceil(count / 20)
  let nth = 0
  const work = (until: number) =>
    Promise.all(
      Array.from({ length: 12 }, async () => {
        while (nth < until) await store(nth++)
      }),
    )
  await work(samples)
  const rest = ((Date.now() - startedAt) / samples) * (count - samples)
  begin = Date.now() + 2 * rest + 70_000
  images.length = 0
  nth = 0
  await work(count)
  return { images, begin }
}

/** Views at a steady rate. What came too late or went too early is a fault. */
async function view(urls: string[], images: Image[], end: number, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: VIEWERS })
  const took: number[] = []
  const startedAt = Date.now()
  let views = 0

  async function one(): Promise<void> {
    const { id, expiresAt } = images[Math.floor(Math.random() * images.length)]!
    const url = urls[views % urls.length]!
    const sentAt = Date.now()
    const status = await statusOf(`${url}/raw/${id}`, agent)
    const doneAt = Date.now()
    if (status === null || status >= 500) {
      tally.errors++
      return
    }
    took.push(doneAt - sentAt)
    if (status === 200 && sentAt >= expiresAt + LATE_MS) {
      tally.faults.push(`${url}: shown ${sentAt - expiresAt} ms after its time`)
    } else if (status === 404 && doneAt < expiresAt) {
      tally.lost++
      tally.faults.push(`${url}: gone ${expiresAt - doneAt} ms before its time`)
    }
  }

  await Promise.all(
    Array.from({ length: VIEWERS }, async () => {
      while (Date.now() < end) {
        const due = startedAt + (views / VIEWS_PER_SECOND) * 1000
        views++
        await sleep(Math.max(0, due - Date.now()))
        await one()
      }
    }),
  )
  agent.destroy()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.floor(share * (took.length - 1))]
  process.stderr.write(
    `  ${took.length} views answered in ${Math.round((Date.now() - startedAt) / 1000)} s: ` +
      `median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms\n`,
  )
  tally.faults.splice(10)
}

/** `null`: no answer. */
function statusOf(url: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    get(url, { agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? null))
      answer.on('error', () => resolve(null))
    }).on('error', () => resolve(null))
  })
}
