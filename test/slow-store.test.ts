import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startFakeS3 } from './support/fake-s3.ts'
import { startLocalServer } from './support/local-server.ts'
import { on } from './support/s3-on-fake.ts'
import { gif } from './support/tiny-images.ts'
import { fetchRaw, post } from './support/upload.ts'

/** Far less than the store takes, and more than any other step. */
const IDLE_MS = 500
const STORE_MS = 2000

it('cuts off no client that waits for the server, however long that takes', async (t) => {
  const fake = await startFakeS3()
  t.after(() => fake.close())
  // Read where every tool of Amazon's reads them. Each test file is a process.
  process.env.AWS_ACCESS_KEY_ID = fake.keys.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = fake.keys.secretAccessKey
  const server = await startLocalServer(
    { OBJECTS_URL: `s3://${fake.bucket}?endpoint=${encodeURIComponent(fake.endpoint)}` },
    { limits: { idleMs: IDLE_MS } },
  )
  t.after(() => server.stop())
  const bytes = gif({ size: 100_000 })
  fake.faults.add({ kind: 'delay', ms: STORE_MS }, { on: on('PUT') })
  const answer = await post(server.url, bytes)
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual((await fetchRaw(server.url, answer.json().id)).body, bytes)
})
