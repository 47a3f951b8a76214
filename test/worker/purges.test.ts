/**
 * Purges of Workers Cache: requested after the response, delayed by the cache's rate limit, completed by the cron trigger.
 * No simulator has Workers Cache, so this uses a fake that follows its documented rules.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sleep } from '../../src/async.ts'
import { type WorkersCache, workersCacheCdn } from '../../src/cdn/workers-cache.ts'
import { fakeIds } from '../support/ids.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const variables = { CDN_URL: 'workers-cache://default' }
const MINUTE_MS = 60_000

/** Rate limits of the Free plan (Cloudflare docs, "Workers Cache", "Purge rate limits"). */
const LIMITS = { callsAMinute: 5, bucket: 25, tags: 100 }

/** `calls`: initial burst budget. */
function fakeCache(calls = LIMITS.bucket) {
  const cache = { tags: [] as string[][], isFull: false, refused: 0 }
  let at = Date.now()
  const purge: WorkersCache['purge'] = async ({ tags }) => {
    calls = Math.min(LIMITS.bucket, calls + ((Date.now() - at) / MINUTE_MS) * LIMITS.callsAMinute)
    at = Date.now()
    // The Worker has to wait for the response.
    await sleep(1)
    cache.tags.push(tags)
    if (cache.isFull || calls < 1 || tags.length > LIMITS.tags) {
      cache.refused++
      return { success: false, errors: [{ message: 'rate limit' }] }
    }
    calls--
    return { success: true }
  }
  return Object.assign(cache, { purge })
}

it('purges after the response, retries rate-limited purges, and finishes with the trigger', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const cache = fakeCache()
  const { ask, upload, trigger, ledger } = await startHostHere(t, { variables, cache })
  const stored = await upload(gif())
  assert.equal(stored.status, 201)
  const { id, key } = (await stored.json()) as { id: string; key: string }
  assert.deepEqual(cache.tags, [])

  cache.isFull = true
  assert.equal((await ask('DELETE', `/api/delete?key=${key}`)).status, 200)
  assert.deepEqual(cache.tags, [[`i-${id}`]])
  const pending = async () => (await ledger.pendingPurges()).count
  assert.equal(await pending(), 1)

  // The cache's rate limit has not recovered yet.
  cache.isFull = false
  await trigger()
  assert.equal(cache.tags.length, 1)

  t.mock.timers.setTime(Date.now() + 16_000)
  await trigger()
  assert.equal(cache.tags.length, 2)
  assert.equal(await pending(), 1, 'purged again later, since a fill may have been in flight')

  t.mock.timers.setTime(Date.now() + 61_000)
  await trigger()
  assert.deepEqual(cache.tags.slice(1), [[`i-${id}`], [`i-${id}`]])
  assert.equal(await pending(), 0)
})

it('purges a hundred images that are deleted in a burst with a call for each half second', async (t) => {
  const cache = fakeCache()
  const { ask, upload } = await startHostHere(t, {
    variables: { ...variables, UPLOADS_PER_DAY: '100' },
    cache,
  })
  const ids: string[] = []
  const keys: string[] = []
  for (let i = 0; i < 100; i++) {
    const { id, key } = (await (await upload(gif())).json()) as { id: string; key: string }
    ids.push(`i-${id}`)
    keys.push(key)
  }
  const start = performance.now()
  const deletions = keys.map(async (key, i) => {
    await sleep(i * 10)
    await ask('DELETE', `/api/delete?key=${key}`)
  })
  await Promise.all(deletions)
  assert.deepEqual(new Set(cache.tags.flat()), new Set(ids))
  // One for each half second, however long a busy machine takes.
  const maxCalls = 1 + Math.ceil((performance.now() - start) / 500)
  assert.ok(cache.tags.length <= maxCalls, `${cache.tags.length} calls, not ${maxCalls}`)
})

// docs/scale.md: 4.2 removals a second when each is purged twice, and 8.3 when the late purge is the only one.
for (const { perSecond, minutes } of [
  { perSecond: 4.1, minutes: 0 },
  { perSecond: 8.2, minutes: 3 },
]) {
  it(`keeps up with ${perSecond} removals a second, at most ${minutes} minutes late, within the rate limit`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const cache = fakeCache(0)
    const { trigger, ledger } = await startHostHere(t, { variables, cache })
    // Starts with an empty burst budget.
    const { name, rate } = workersCacheCdn(() => cache)
    await ledger.takeTokens(name, Date.now(), rate!, LIMITS.bucket)
    const removed: string[][] = []
    for (let minute = 0; minute < 10; minute++) {
      removed.push(fakeIds(Math.floor(perSecond * 60)))
      const fillEndsAt = Date.now() + MINUTE_MS
      await Promise.all(removed[minute]!.map((id) => ledger.enqueuePurge(id, fillEndsAt, Date.now())))
      t.mock.timers.setTime(Date.now() + MINUTE_MS + 1)
      await trigger()
      const purged = new Set(cache.tags.flat())
      const late = removed[minute - minutes]?.filter((id) => !purged.has(`i-${id}`)) ?? []
      assert.equal(late.length, 0, `after ${minute + 1} minutes`)
    }
    assert.equal(cache.refused, 0)
  })
}

it('gives the cache whole images that must be revalidated, and nothing if it would not be purged', async (t) => {
  const cache = fakeCache()
  const cached = await startHostHere(t, { variables, cache })
  const alone = await startHostHere(t)
  const bytes = gif({ size: 2000 })
  const Range = 'bytes=10-19'
  for (const [{ ask, upload }, status, lifetime] of [
    [cached, 200, 'public, max-age=3600, must-revalidate'],
    [alone, 206, 'no-store'],
  ] as const) {
    const { id } = (await (await upload(bytes)).json()) as { id: string }
    const etag = (await ask('GET', `/raw/${id}`)).headers.get('ETag')!
    for (const headers of [{ Range }, { Range, 'If-Range': etag }] as Record<string, string>[]) {
      const answer = await ask('GET', `/raw/${id}`, { headers })
      const body = Buffer.from(await answer.arrayBuffer())
      assert.equal(answer.status, status)
      assert.ok(body.equals(status === 200 ? bytes : bytes.subarray(10, 20)))
      assert.equal(answer.headers.get('Vary'), null)
    }
    const headers = (await ask('GET', `/raw/${id}`)).headers
    assert.equal(headers.get('Cloudflare-CDN-Cache-Control'), lifetime)
    assert.equal(headers.get('Cache-Tag'), `i-${id}`)
  }
})
