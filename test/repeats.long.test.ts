/**
 * Upload retries across several processes: one image per key, whichever process handles them and however many responses are
 * lost.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freshAddress } from './contracts/http/host.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { startBackends, startCluster } from './support/processes/cluster.ts'
import { startServer } from './support/processes/server.ts'
import { fetchRaw, post, remaining } from './support/upload.ts'

interface Service {
  urls: string[]
  /** Number of stored images. */
  images(): Promise<number>
  stop(): Promise<unknown>
}

const KEYS = 6
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

    it('store one image per key, and count one', async () => {
      const before = await service.images()
      for (const size of SIZES) {
        await Promise.all(
          Array.from({ length: KEYS }, async () => {
            const from = freshAddress()
            const [key, bytes] = [randomBytes(16).toString('hex'), gif({ size })]
            const answers = await Promise.all(
              Array.from({ length: 9 }, (_, index) =>
                upload(service.urls[index % service.urls.length]!, key, bytes, from),
              ),
            )
            for (const { status, text } of answers) assert.equal(status, 201, text)
            // Not the links, which start with each server's own URL.
            assert.equal(new Set(answers.map((answer) => answer.json().key)).size, 1)
            assert.equal(await remaining(service.urls[0]!, from), '999')
          }),
        )
      }
      assert.equal((await service.images()) - before, KEYS * SIZES.length)
    })

    it('store one image per key, whenever the connection is lost', async () => {
      const before = await service.images()
      for (const size of SIZES) {
        await Promise.all(
          Array.from({ length: KEYS }, async (_, seed) => {
            const from = freshAddress()
            const [key, bytes] = [randomBytes(16).toString('hex'), gif({ size })]
            for (let attempt = 0; attempt < 5; attempt++) {
              const url = service.urls[(seed + attempt) % service.urls.length]!
              await loseResponse(url, key, bytes, from, attempt * 3 + seed)
            }
            const answer = await upload(service.urls[seed % service.urls.length]!, key, bytes, from)
            assert.equal(answer.status, 201, answer.text)
            const raw = await fetchRaw(service.urls[0]!, answer.json().id)
            assert.deepEqual(raw.body, bytes)
          }),
        )
      }
      assert.equal((await service.images()) - before, KEYS * SIZES.length)
    })

    it('accept one of several images with the same key, and refuse the others', async () => {
      const from = freshAddress()
      for (let count = 0; count < 4; count++) {
        const key = randomBytes(16).toString('hex')
        const images = Array.from({ length: 6 }, (_, index) => gif({ size: 100_000 + index }))
        const answers = await Promise.all(
          images.map((bytes, index) => upload(service.urls[index % service.urls.length]!, key, bytes, from)),
        )
        const statuses = answers.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [201, 422, 422, 422, 422, 422])
        const winner = answers.findIndex(({ status }) => status === 201)
        const raw = await fetchRaw(service.urls[0]!, answers[winner]!.json().id)
        assert.deepEqual(raw.body, images[winner])
      }
    })
  })
}

function upload(url: string, key: string, bytes: Buffer, from: string) {
  return post(url, bytes, from, { headers: { 'Idempotency-Key': key } })
}

/** Sends a complete upload and disconnects after `afterMs`: before, while or after the image is stored. */
async function loseResponse(
  url: string,
  key: string,
  bytes: Buffer,
  from: string,
  afterMs: number,
): Promise<void> {
  const { body, contentType } = formOf(bytes)
  const headers = {
    'Content-Type': contentType,
    'Content-Length': body.length,
    'Idempotency-Key': key,
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
