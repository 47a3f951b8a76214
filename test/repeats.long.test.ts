/** Upload retries across several processes: one image per key, however many responses are lost. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { freshAddress } from './contracts/http/host.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { serverFor } from './support/processes/server.ts'
import { fetchRaw, post } from './support/upload.ts'

const KEYS = 6
const SIZES = [2_000, 400_000]

test('3 processes on one folder store one image per key, whenever the connection is lost', async (t) => {
  const { dataDir, url } = await serverFor(t, { WORKERS: '3', UPLOADS_PER_DAY: '1000' })
  for (const size of SIZES) {
    await Promise.all(
      Array.from({ length: KEYS }, async (_, seed) => {
        const from = freshAddress()
        const [key, bytes] = [randomBytes(16).toString('hex'), gif({ size })]
        for (let attempt = 0; attempt < 5; attempt++) {
          await loseResponse(url, key, bytes, from, attempt * 3 + seed)
        }
        const answer = await upload(url, key, bytes, from)
        assert.equal(answer.status, 201, answer.text)
        const raw = await fetchRaw(url, answer.json().id)
        assert.deepEqual(raw.body, bytes)
      }),
    )
  }
  const stored = await readdir(join(dataDir, 'images/objects'))
  assert.equal(stored.length, KEYS * SIZES.length)
})

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
