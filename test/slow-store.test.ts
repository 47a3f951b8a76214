import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { gif } from './support/images/tiny-images.ts'
import { type LocalServer, startLocalServer } from './support/processes/local-server.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'
import { on } from './support/s3/on-fake.ts'
import { until } from './support/until.ts'
import { fetchRaw, post } from './support/upload.ts'

/** Far less than the store takes, but more than any other step. */
const IDLE_MS = 2000
const STORE_MS = 6000

let fake: FakeS3
let server: LocalServer
before(async () => {
  fake = await startFakeS3()
  server = await startLocalServer(
    {
      OBJECTS_URL: `s3://${fake.bucket}?endpoint=${encodeURIComponent(fake.endpoint)}`,
      AWS_ACCESS_KEY_ID: fake.accessKeyId,
      AWS_SECRET_ACCESS_KEY: fake.secretAccessKey,
    },
    { limits: { idleMs: IDLE_MS } },
  )
})
after(async () => {
  await server?.stop()
  await fake?.close()
})

it('does not cut off clients that wait for the server, however long that takes', async () => {
  const bytes = gif({ size: 100_000 })
  fake.faults.add({ kind: 'delay', ms: STORE_MS }, { on: on('PUT') })
  const answer = await post(server.url, bytes)
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual((await fetchRaw(server.url, answer.json().id)).body, bytes)
})

it('commits large uploads to the store concurrently', async () => {
  const count = 12
  fake.requests.length = 0
  const puts = () =>
    fake.requests.filter(({ method, key }) => method === 'PUT' && /[0-9A-Za-z]{11}$/.test(key))
  fake.faults.add({ kind: 'delay', ms: STORE_MS * 2 }, { on: on('PUT'), times: count })
  const answers = Array.from({ length: count }, () => post(server.url, gif({ size: 400_000 })))
  await until('all have reached the store', () => puts().length === count)
  assert.deepEqual([...new Set(puts().map(({ status }) => status))], [0], 'all are still unanswered')
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 201, answer.text)
})
