import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { it } from 'node:test'
import { openS3Files } from '../../../src/stores/s3/store.ts'
import { filesContract } from '../../contracts/files.ts'
import { end, listen } from '../../support/listen.ts'
import { onFake, QUICK } from '../../support/s3/on-fake.ts'

const { service } = onFake()

filesContract('S3', async () => {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service()
  const url = `s3://${bucket}/${randomUUID()}?endpoint=${encodeURIComponent(endpoint)}`
  const open = () => openS3Files({ url, folder: '', accessKeyId, secretAccessKey, retryPolicy: QUICK })
  const files = open()
  return { files, reopen: open, close: () => files.close() }
})

it('writes a file for as long as it takes, while the store receives some of it', async (t) => {
  const idleMs = 10_000
  const { setTimeout } = globalThis
  let passed = 0
  let due = Number.POSITIVE_INFINITY
  let onTimeout = () => {}
  // Mocked timers can't be refreshed.
  t.mock.method(globalThis, 'setTimeout', (callback: () => void, ms?: number) => {
    if (ms !== idleMs) return setTimeout(callback, ms)
    onTimeout = callback
    const refresh = (): void => {
      due = passed + idleMs
    }
    return { refresh }
  })
  const pass = () => {
    passed += 0.6 * idleMs
    if (passed >= due) onTimeout()
  }
  // More than the sockets on the way can hold before the store reads the first byte.
  const size = 16 * 1024 * 1024
  let received = 0
  const server = createServer(async (request, response) => {
    pass()
    for await (const chunk of request) received += chunk.length
    pass()
    response.end()
  })
  const endpoint = encodeURIComponent(`http://127.0.0.1:${await listen(server)}`)
  t.after(() => end(server))
  const files = openS3Files({
    url: `s3://bucket?endpoint=${endpoint}`,
    folder: '',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    retryPolicy: { attempts: 1, idleMs },
  })
  await files.write('ledger', new Uint8Array(size))
  assert.equal(received, size)
  await files.close()
})
