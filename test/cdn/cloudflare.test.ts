/** Cloudflare's zone cache by address within its limits, by tag where that fails; and Workers Cache, by its documented rules. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { purgeName } from '../../src/cdn/cdn.ts'
import { cloudflareCdn } from '../../src/cdn/cloudflare.ts'
import { type WorkersCache, workersCacheCdn } from '../../src/cdn/workers-cache.ts'
import { RemoteFailure } from '../../src/errors.ts'
import { createPurges } from '../../src/service/images/purges.ts'
import { fakeIds } from '../support/ids.ts'
import { ledgerOf } from '../support/ledger.ts'
import { until } from '../support/until.ts'

const SITE = 'https://pics.example'
const URL_OF_ZONE = new URL('cloudflare://zone?token=t&fill=0')

/** Limits of the Free plan, for a whole account. */
const ADDRESSES_A_SECOND = 800
const ADDRESSES_IN_CALL = 100

/** The provider, as it documents its limits. `isAway`: it takes no purges by address. */
function fakeCloudflare({ isAway = false, clock = () => performance.now() } = {}) {
  const seen = { files: new Set<string>(), tags: new Set<string>(), calls: 0, refused: 0 }
  let tokens = ADDRESSES_A_SECOND
  let at = clock()
  const fetch = async (_url: string, { body }: RequestInit): Promise<Response> => {
    const { files = [], tags = [] } = JSON.parse(String(body)) as { files?: string[]; tags?: string[] }
    seen.calls++
    const now = clock()
    // A tenth faster than agreed: the provider's clock and the network are not ours.
    tokens = Math.min(ADDRESSES_A_SECOND, tokens + ((now - at) / 1000) * ADDRESSES_A_SECOND * 1.1)
    at = now
    if (isAway && files.length > 0) return new Response('{"success":false}', { status: 200 })
    if (files.length > ADDRESSES_IN_CALL || files.length > tokens) {
      seen.refused++
      return new Response('', { status: 429 })
    }
    tokens -= files.length
    for (const file of files) seen.files.add(file)
    for (const tag of tags) seen.tags.add(tag)
    return Response.json({ success: true })
  }
  return { seen, fetch }
}

it('purges the addresses that an image has, in one call for several images', async () => {
  const { seen, fetch } = fakeCloudflare()
  const cdn = cloudflareCdn(URL_OF_ZONE, fetch, SITE)
  const ids = fakeIds(cdn.batchSize)
  await cdn.purge(ids.map((id) => purgeName(id, 'image/webp')))
  assert.equal(seen.calls, 1)
  assert.deepEqual([...seen.tags], [])
  const ends = ['', '?dl=1', '.webp', '.webp?dl=1']
  const targetsOf = (id: string) => [...ends.map((end) => `/raw/${id}${end}`), `/preview/${id}`]
  assert.deepEqual(seen.files, new Set(ids.flatMap(targetsOf).map((target) => SITE + target)))
})

it('purges every address that an image may have whose type is not known', async () => {
  const { seen, fetch } = fakeCloudflare()
  const cdn = cloudflareCdn(URL_OF_ZONE, fetch, SITE)
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

it('purges by tag what can’t be purged by address', async () => {
  const { seen, fetch } = fakeCloudflare({ isAway: true })
  const [id] = fakeIds(1) as [string]
  await cloudflareCdn(URL_OF_ZONE, fetch, SITE).purge([id])
  assert.deepEqual([...seen.tags], [`i-${id}`])
})

it('keeps up with 80 removals a second, each purged twice', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const fillMs = 2000
  const { seen, fetch } = fakeCloudflare({ clock: Date.now })
  const cdn = cloudflareCdn(new URL(`cloudflare://zone?token=t&fill=${fillMs / 1000}`), fetch, SITE)
  const ledger = await ledgerOf(t)
  const failures: unknown[] = []
  const onFailure = (error: unknown) => failures.push(error)
  const purges = createPurges({ ledger, cdn, now: Date.now, onFailure })
  const removed: string[][] = []
  const stepMs = cdn.rate!.intervalMs
  for (let nth = 0; nth < 80; nth++) {
    removed.push(fakeIds((80 * stepMs) / 1000))
    for (const id of removed[nth]!) await purges.enqueue(id, 'image/jpeg')
    t.mock.timers.setTime(Date.now() + stepMs)
    purges.start()
    await purges.stop()
    // A second ago.
    for (const id of removed[nth - 1000 / stepMs] ?? [])
      assert.ok(seen.files.has(`${SITE}/raw/${id}`), `${nth}`)
  }
  const waiting = (await purges.pending())!.count
  assert.ok(waiting <= 80 * (1 + fillMs / 1000), `${waiting} wait`)
  assert.equal(seen.refused, 0)
  assert.deepEqual([failures, [...seen.tags]], [[], []])
})

it('keeps within the limits of the Free plan while 300 images are removed at once', async (t) => {
  const { seen, fetch } = fakeCloudflare()
  const failures: unknown[] = []
  const ledger = await ledgerOf(t)
  const purges = createPurges({
    ledger,
    cdn: cloudflareCdn(URL_OF_ZONE, fetch, SITE),
    now: Date.now,
    onFailure: (error) => failures.push(error),
    intervalMs: 20,
  })
  t.after(() => purges.stop())
  const ids = fakeIds(300)
  await Promise.all(ids.map((id) => purges.enqueue(id, 'image/jpeg')))
  purges.start()
  await until('all is purged', async () => (await purges.pending())?.count === 0)
  assert.equal(seen.refused, 0)
  assert.deepEqual(failures, [])
  assert.equal(seen.files.size, ids.length * 5)
  assert.deepEqual([...seen.tags], [])
})

/** No simulator has Workers Cache: a stand-in of what is documented, five calls a minute of a hundred tags. */
function fakeWorkersCache(): WorkersCache & { tags: string[]; left: number } {
  return {
    tags: [],
    left: 25,
    async purge({ tags }) {
      if (tags.length > 100) throw new Error('too many tags')
      if (this.left-- <= 0) return { success: false, errors: [{ message: 'rate limit reached' }] }
      this.tags.push(...tags)
      return { success: true }
    },
  }
}

it('purges Workers Cache by tag, and comes back when its minute is over', async () => {
  const cache = fakeWorkersCache()
  const cdn = workersCacheCdn(() => cache)
  assert.deepEqual(cdn.rate, { intervalMs: 12_000, burst: 25 })
  const ids = fakeIds(cdn.batchSize)
  await cdn.purge(ids)
  assert.deepEqual(
    cache.tags,
    ids.map((id) => `i-${id}`),
  )
  cache.left = 0
  await assert.rejects(
    cdn.purge(ids),
    (error) => error instanceof RemoteFailure && error.retryAfterMs === 15_000,
  )
  const gone = workersCacheCdn(() => {
    throw new Error('no Workers Cache is in front')
  })
  await assert.rejects(gone.purge(ids), RemoteFailure)
})

it('lets Workers Cache serve nothing that is stale', () => {
  const headers = workersCacheCdn(fakeWorkersCache).cacheHeaders('aaaaaaaaaaa', 3600)
  assert.match(headers['Cloudflare-CDN-Cache-Control']!, /must-revalidate/)
  assert.equal(headers['Cache-Tag'], 'i-aaaaaaaaaaa')
})
