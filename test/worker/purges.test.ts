/**
 * What a Worker owes to the cache in front of it: asked for behind the answer, put off as the cache says, settled by the trigger.
 * No simulator has Workers Cache: a stand-in of its documented rules.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type WorkersCache, workersCacheCdn } from '../../src/cdn/workers-cache.ts'
import { fakeIds } from '../support/ids.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const variables = { CDN_URL: 'workers-cache://default' }
const MINUTE_MS = 60_000

/** "Workers Cache", "Purge rate limits": those of the Free plan, whatever the plan is. */
const LIMITS = { callsAMinute: 5, bucket: 25, tags: 100 }

/** `calls`: that it takes at once, to begin with. */
function fakeCache(calls = LIMITS.bucket) {
  const cache = { tags: [] as string[][], isFull: false, refused: 0 }
  let at = Date.now()
  const purge: WorkersCache['purge'] = async ({ tags }) => {
    calls = Math.min(LIMITS.bucket, calls + ((Date.now() - at) / MINUTE_MS) * LIMITS.callsAMinute)
    at = Date.now()
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

it('is purged behind the answer, put off as the cache says, and settled by the trigger', async (t) => {
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
  const owed = async () => (await ledger.pendingPurges()).count
  assert.equal(await owed(), 1)

  // A minute of the cache's limit is not over.
  cache.isFull = false
  await trigger()
  assert.equal(cache.tags.length, 1)

  t.mock.timers.setTime(Date.now() + 16_000)
  await trigger()
  assert.equal(cache.tags.length, 2)
  assert.equal(await owed(), 1, 'a fill may have been under way')

  t.mock.timers.setTime(Date.now() + 61_000)
  await trigger()
  assert.deepEqual(cache.tags.slice(1), [[`i-${id}`], [`i-${id}`]])
  assert.equal(await owed(), 0)
})

// docs/scale.md: 4.2 a second, each purged twice, and 8.3 where a late purge is the only one.
for (const { aSecond, minutes } of [
  { aSecond: 4.1, minutes: 0 },
  { aSecond: 8.2, minutes: 3 },
]) {
  it(`keeps up with ${aSecond} removals a second, ${minutes} minutes behind at most, and is refused no call`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const cache = fakeCache(0)
    const { trigger, ledger } = await startHostHere(t, { variables, cache })
    // What a quiet time would have saved up is used up.
    const { name, rate } = workersCacheCdn(() => cache)
    await ledger.takeTurn(name, Date.now(), rate!, LIMITS.bucket)
    const removed: string[][] = []
    for (let minute = 0; minute < 10; minute++) {
      removed.push(fakeIds(Math.floor(aSecond * 60)))
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

it('gives the cache whole images, that are never stale', async (t) => {
  const cache = fakeCache()
  const cached = await startHostHere(t, { variables, cache })
  const alone = await startHostHere(t)
  const bytes = gif({ size: 2000 })
  const Range = 'bytes=10-19'
  for (const [{ ask, upload }, status] of [
    [cached, 200],
    [alone, 206],
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
    const told = (await ask('GET', `/raw/${id}`)).headers
    assert.equal(/must-revalidate/.test(told.get('Cloudflare-CDN-Cache-Control') ?? ''), status === 200)
    assert.equal(told.get('Cache-Tag'), `i-${id}`)
  }
})
