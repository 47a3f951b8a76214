/** Quota reset at 00:00 UTC. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gif } from '../support/images/tiny-images.ts'
import { startLocalServer } from '../support/processes/local-server.ts'
import { until } from '../support/until.ts'
import { begin, post, remaining, store } from '../support/upload.ts'

// In this zone a day ends at 10:00 UTC. The quota's day does not depend on the machine's zone.
process.env.TZ = 'Pacific/Kiritimati'

it('the end of a day resets the quota at 00:00 UTC, and releases reservations on the day they were made', async (t) => {
  let now = Date.UTC(2030, 0, 31, 23, 59, 59, 250)
  const server = await startLocalServer({ UPLOADS_PER_DAY: '2' }, { limits: { waitMs: 300 }, now: () => now })
  t.after(() => server.stop())
  await store(server.url)
  const held = await begin(server.url, '198.51.100.1')
  await until('it holds a reservation', async () => (await remaining(server.url, '198.51.100.1')) === 0)
  // The reservation may still be released, so the server waits before it refuses.
  const refused = await post(server.url, gif())
  assert.equal(refused.status, 503)
  assert.equal(refused.json().error, 'busy')
  now = Date.UTC(2030, 1, 1)
  assert.equal(await remaining(server.url, '198.51.100.1'), 2)
  await store(server.url)
  held.close()
  // The reservation was made yesterday: today's count does not change.
  for (let i = 0; i < 20; i++) {
    assert.equal(await remaining(server.url, '198.51.100.1'), 1)
    await sleep(10)
  }
  now = Date.UTC(2030, 1, 1, 0, 0, 0, 1)
  await store(server.url)
  const full = await post(server.url, gif())
  assert.equal(full.status, 429)
  assert.equal(full.headers.get('Retry-After'), '86400')
  now = Date.UTC(2030, 1, 1, 23, 59, 59, 250)
  assert.equal((await post(server.url, gif())).headers.get('Retry-After'), '1')
})
