/** Many large concurrent uploads. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { peakMegabytes } from '../support/attack/process-costs.ts'
import { gif } from '../support/images/tiny-images.ts'
import { serverFor } from '../support/processes/server.ts'
import { begin, fetchRaw, store } from '../support/upload.ts'

const isLinux = process.platform === 'linux'

it('many concurrent uploads are not held in memory, do not block other requests, and all succeed', async (t) => {
  const server = await serverFor(t, { UPLOADS_PER_DAY: '1000' })
  const { id, bytes } = await store(server.url)
  const before = isLinux ? peakMegabytes(server.pid) : 0
  const uploads = await Promise.all(
    Array.from({ length: 20 }, (_, i) => begin(server.url, `198.51.100.${i}`, gif({ size: 12_000_000 }))),
  )
  for (let i = 0; i < 50; i++) assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
  const answers = await Promise.all(
    uploads.map(async ({ rest, bytes, ...talk }) => {
      await talk.write(rest)
      const answer = await talk.answer()
      talk.close()
      assert.equal(answer.status, 201, answer.text)
      return { id: answer.json().id, bytes }
    }),
  )
  for (const { id, bytes } of answers.slice(-5)) {
    assert.ok((await fetchRaw(server.url, id)).body.equals(bytes))
  }
  // 240 MB were sent. `npm run bench` measures the maximum cost of 200 slow clients.
  if (!isLinux) return
  const peak = peakMegabytes(server.pid)
  assert.ok(peak - before < 120, `from ${before} to ${peak} MB`)
})
