/** Purging Cloudflare's zone cache by URL within its limits, with tags as a fallback; and Workers Cache, as documented. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { purgeName } from '../../src/cdn/cdn.ts'
import { cloudflareCdn } from '../../src/cdn/cloudflare.ts'
import { type WorkersCache, workersCacheCdn } from '../../src/cdn/workers-cache.ts'
import { RemoteFailure } from '../../src/errors.ts'
import { createPurges } from '../../src/service/images/purges.ts'
import { fakeIds } from '../support/ids.ts'
import { ledgerOf } from '../support/ledger.ts'

const SITE = 'https://pics.example'
const URL_OF_ZONE = new URL('cloudflare://zone?token=t&fill=0')

/** Limits of the Free plan, for a whole account. */
const URLS_PER_SECOND = 800
const URLS_PER_CALL = 100

/** Simulates the provider's documented limits. `isAway`: purges by URL fail. */
function fakeCloudflare(t: TestContext, { isAway = false, clock = () => performance.now() } = {}) {
  const seen = { files: new Set<string>(), tags: new Set<string>(), calls: 0, refused: 0 }
  let tokens = URLS_PER_SECOND
  let at = clock()
  t.mock.method(globalThis, 'fetch', async (_url: string, { body }: RequestInit): Promise<Response> => {
    const { files = [], tags = [] } = JSON.parse(String(body)) as { files?: string[]; tags?: string[] }
    seen.calls++
    const now = clock()
    // 10% tolerance, as the provider's clock and the network differ from ours.
    tokens = Math.min(URLS_PER_SECOND, tokens + ((now - at) / 1000) * URLS_PER_SECOND * 1.1)
    at = now
    if (isAway && files.length > 0) return new Response('{"success":false}', { status: 200 })
    if (files.length > URLS_PER_CALL || files.length > tokens) {
      seen.refused++
      return new Response('', { status: 429 })
    }
    tokens -= files.length
    for (const file of files) seen.files.add(file)
    for (const tag of tags) seen.tags.add(tag)
    return Response.json({ success: true })
  })
  return seen
}

it('purges the URLs of several images in one call', async (t) => {
  const seen = fakeCloudflare(t)
  const cdn = cloudflareCdn(URL_OF_ZONE, SITE)
  const ids = fakeIds(cdn.batchSize)
  await cdn.purge(ids.map((id) => purgeName(id, 'image/webp')))
  assert.equal(seen.calls, 1)
  assert.deepEqual([...seen.tags], [])
  const ends = ['', '?dl=1', '.webp', '.webp?dl=1']
  const targetsOf = (id: string) => [...ends.map((end) => `/raw/${id}${end}`), `/preview/${id}`]
  assert.deepEqual(seen.files, new Set(ids.flatMap(targetsOf).map((target) => SITE + target)))
})

it('purges every possible URL of an image of unknown type', async (t) => {
  const seen = fakeCloudflare(t)
  const cdn = cloudflareCdn(URL_OF_ZONE, SITE)
  const ids = fakeIds(cdn.batchSize)
  await cdn.purge(ids)
  assert.equal(seen.refused, 0)
  assert.deepEqual([...seen.tags], [])
  for (const id of ids) {
    for (const end of ['', '.jpg', '.png', '.gif', '.webp', '.avif']) {
      assert.ok(seen.files.has(`${SITE}/raw/${id}${end}`), end)
      assert.ok(seen.files.has(`${SITE}/raw/${id}${end}?dl=1`), end)
    }
    assert.ok(seen.files.has(`${SITE}/preview/${id}`))
  }
})

it('falls back to purging by tag', async (t) => {
  const seen = fakeCloudflare(t, { isAway: true })
  const [id] = fakeIds(1) as [string]
  await cloudflareCdn(URL_OF_ZONE, SITE).purge([id])
  assert.deepEqual([...seen.tags], [`i-${id}`])
})

it('keeps up with 80 removals a second, each purged twice', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const fillMs = 2000
  const seen = fakeCloudflare(t, { clock: Date.now })
  const cdn = cloudflareCdn(new URL(`cloudflare://zone?token=t&fill=${fillMs / 1000}`), SITE)
  const ledger = await ledgerOf(t)
  const failures: unknown[] = []
  const onFailure = (error: unknown) => failures.push(error)
  const purges = createPurges({ ledger, cdn, now: Date.now, onFailure })
  const removed: string[][] = []
  const stepMs = cdn.rate!.intervalMs
  for (let step = 0; step < 80; step++) {
    removed.push(fakeIds((80 * stepMs) / 1000))
    for (const id of removed[step]!) await purges.enqueue(id, 'image/jpeg')
    t.mock.timers.setTime(Date.now() + stepMs)
    purges.start()
    await purges.stop()
    // Removals of a second ago must be purged.
    for (const id of removed[step - 1000 / stepMs] ?? [])
      assert.ok(seen.files.has(`${SITE}/raw/${id}`), `${step}`)
  }
  const pending = (await purges.pending())!.count
  assert.ok(pending <= 80 * (1 + fillMs / 1000), `${pending} pending`)
  assert.equal(seen.refused, 0)
  assert.deepEqual([failures, [...seen.tags]], [[], []])
})

/** No simulator supports Workers Cache: a fake with the documented limits, five calls a minute with up to 100 tags. */
function fakeWorkersCache(): WorkersCache & { tags: string[]; remaining: number } {
  return {
    tags: [],
    remaining: 25,
    async purge({ tags }) {
      if (tags.length > 100) throw new Error('too many tags')
      if (this.remaining-- <= 0) return { success: false, errors: [{ message: 'rate limit reached' }] }
      this.tags.push(...tags)
      return { success: true }
    },
  }
}

it('purges Workers Cache by tag, and retries after hitting its rate limit', async () => {
  const cache = fakeWorkersCache()
  const cdn = workersCacheCdn(() => cache)
  assert.deepEqual(cdn.rate, { intervalMs: 12_000, burst: 25 })
  const ids = fakeIds(cdn.batchSize)
  await cdn.purge(ids)
  assert.deepEqual(
    cache.tags,
    ids.map((id) => `i-${id}`),
  )
  cache.remaining = 0
  await assert.rejects(
    cdn.purge(ids),
    (error) => error instanceof RemoteFailure && error.retryAfterMs === 15_000,
  )
  const gone = workersCacheCdn(() => {
    throw new Error('no Workers Cache is in front')
  })
  await assert.rejects(gone.purge(ids), RemoteFailure)
})
