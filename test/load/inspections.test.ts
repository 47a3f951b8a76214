/** Small files that expand a thousandfold when inspected: only a few of them are inspected concurrently. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { peakMegabytes, resetPeak } from '../support/attack/process-costs.ts'
import { gif, png } from '../support/images/tiny-images.ts'
import { serverFor } from '../support/processes/server.ts'
import { post } from '../support/upload.ts'

const skip = process.platform !== 'linux' && 'needs /proc'

it('bounds the memory of many expanding files, and accepts ordinary uploads alongside', {
  skip,
}, async (t) => {
  const server = await serverFor(t)
  const profile = Buffer.alloc(4 * 1024 * 1024)
  profile.writeUInt32BE(profile.length, 0)
  profile.write('acsp', 36)
  const file = png(1, 1, profile)
  assert.ok(file.length < 8 * 1024, `${file.length} bytes`)
  assert.equal((await post(server.url, file)).status, 201)
  resetPeak(server.pid)
  const before = peakMegabytes(server.pid)
  const crowd = Array.from({ length: 64 }, (_, index) => [
    post(server.url, file, `198.51.${index % 4}.1`),
    post(server.url, gif(), `203.0.113.${index}`),
  ])
  for (const answer of await Promise.all(crowd.flat())) assert.equal(answer.status, 201, answer.text)
  // Concurrently they would take 500 MB.
  assert.ok(peakMegabytes(server.pid) < before + 200, `${peakMegabytes(server.pid)} MB, ${before} before`)
})
