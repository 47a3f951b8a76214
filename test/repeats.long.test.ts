/** Repeats over several processes: one image each, whichever process they come to and however many answers are lost. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freshAddress } from './contracts/http/host.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { startBackends, startCluster } from './support/processes/cluster.ts'
import { startServer } from './support/processes/server.ts'

interface Service {
  urls: string[]
  /** How many images it keeps. */
  images(): Promise<number>
  stop(): Promise<unknown>
}

const NAMES = 6
const SIZES = [2_000, 400_000]

const backends = await startBackends({ ceph: false })
after(() => backends.stop())

const services: [what: string, start: () => Promise<Service>][] = [
  [
    '3 processes on one folder',
    async () => {
      const server = await startServer({ WORKERS: '3', UPLOADS_PER_DAY: '1000' })
      const objects = join(server.dataDir, 'images/objects')
      const images = async () => (await readdir(objects)).length
      return { urls: [server.url], images, stop: () => server.stop() }
    },
  ],
  [
    '3 servers on S3 and Postgres',
    async () => {
      const cluster = await startCluster({ ...(await backends.place()), UPLOADS_PER_DAY: '1000' })
      const { servers } = cluster
      const images = async () => {
        const { stdout } = await servers[0]!.operator(['status'])
        return Number(/images\D+(\d+)/.exec(stdout)?.[1])
      }
      return { urls: servers.map(({ url }) => url), images, stop: () => cluster.stop() }
    },
  ],
]

for (const [what, start] of services) {
  describe(what, () => {
    let service: Service
    before(async () => {
      service = await start()
    })
    after(() => service?.stop())

    it('store one image a name, and count one', async () => {
      const before = await service.images()
      for (const size of SIZES) {
        await Promise.all(
          Array.from({ length: NAMES }, async () => {
            const from = freshAddress()
            const [name, bytes] = [randomBytes(16).toString('hex'), gif({ size })]
            const answers = await Promise.all(
              Array.from({ length: 9 }, (_, nth) =>
                upload(service.urls[nth % service.urls.length]!, name, bytes, from),
              ),
            )
            for (const { status, text } of answers) assert.equal(status, 201, text)
            // Links begin with each server's own address.
            assert.equal(new Set(answers.map((answer) => answer.json().key)).size, 1)
            assert.equal(await remaining(service, from), 999)
          }),
        )
      }
      assert.equal((await service.images()) - before, NAMES * SIZES.length)
    })

    it('store one image a name, whenever the connection is lost', async () => {
      const before = await service.images()
      for (const size of SIZES) {
        await Promise.all(
          Array.from({ length: NAMES }, async (_, seed) => {
            const from = freshAddress()
            const [name, bytes] = [randomBytes(16).toString('hex'), gif({ size })]
            for (let nth = 0; nth < 5; nth++) {
              const url = service.urls[(seed + nth) % service.urls.length]!
              await loseAnswer(url, name, bytes, from, nth * 3 + seed)
            }
            const answer = await upload(service.urls[seed % service.urls.length]!, name, bytes, from)
            assert.equal(answer.status, 201, answer.text)
            const raw = await request(service.urls[0]!, 'GET', `/raw/${answer.json().id}`)
            assert.deepEqual(raw.body, bytes)
          }),
        )
      }
      assert.equal((await service.images()) - before, NAMES * SIZES.length)
    })

    it('let one of several images win a name, and refuse the others', async () => {
      const from = freshAddress()
      for (let round = 0; round < 4; round++) {
        const name = randomBytes(16).toString('hex')
        const images = Array.from({ length: 6 }, (_, nth) => gif({ size: 100_000 + nth }))
        const answers = await Promise.all(
          images.map((bytes, nth) => upload(service.urls[nth % service.urls.length]!, name, bytes, from)),
        )
        const statuses = answers.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [201, 422, 422, 422, 422, 422])
        const won = answers.findIndex(({ status }) => status === 201)
        const raw = await request(service.urls[0]!, 'GET', `/raw/${answers[won]!.json().id}`)
        assert.deepEqual(raw.body, images[won])
      }
    })
  })
}

function upload(url: string, name: string, bytes: Buffer, from: string) {
  const { body, contentType } = formOf(bytes)
  const headers = { 'Content-Type': contentType, 'Idempotency-Key': name, 'X-Forwarded-For': from }
  return request(url, 'POST', '/api/upload', { headers, body })
}

async function remaining({ urls }: Service, from: string): Promise<number> {
  const { headers } = await request(urls[0]!, 'OPTIONS', '/api/upload', {
    headers: { 'X-Forwarded-For': from },
  })
  return Number(headers.get('X-RateLimit-Remaining'))
}

/** Sends all of it, and is gone after so many milliseconds: before, while or after the image is stored. */
async function loseAnswer(
  url: string,
  name: string,
  bytes: Buffer,
  from: string,
  afterMs: number,
): Promise<void> {
  const { body, contentType } = formOf(bytes)
  const headers = {
    'Content-Type': contentType,
    'Content-Length': body.length,
    'Idempotency-Key': name,
    'X-Forwarded-For': from,
  }
  const { hostname, port } = new URL(url)
  await new Promise<void>((resolve) => {
    const sent = http.request({ hostname, port, method: 'POST', path: '/api/upload', headers, agent: false })
    sent.on('error', () => {})
    sent.on('close', () => resolve())
    sent.end(body, () => setTimeout(() => sent.destroy(), afterMs))
  })
}
