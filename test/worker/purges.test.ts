/** What a Worker owes to the cache in front of it: asked for behind the answer, put off as the cache says, settled by the trigger. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { WorkersCache } from '../../src/cdn/workers-cache.ts'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { configOf, type Env } from '../../src/worker/env.ts'
import { createHost, type Host } from '../../src/worker/host.ts'
import { createLog } from '../../src/worker/log.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'

const SITE = 'https://pics.example'
const CONFIG = { BASE_URL: SITE, CDN_URL: 'workers-cache://default', LOG_LEVEL: 'silent' }

async function worker(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-worker-'))
  const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  t.after(async () => {
    await ledger.close()
    await rm(folder, { recursive: true })
  })
  const host = createHost({
    config: configOf({ IMAGES: {}, LEDGER: {}, PRIVATE: {}, ASSETS: {}, ...CONFIG } as unknown as Env),
    objects,
    ledger,
    notifiers: [],
    evidence: null,
    // No page is asked for.
    assets: { urls: {} as never, asset: () => null },
    log: createLog('silent'),
  })
  return { host, ledger }
}

/** A stand-in for Workers Cache, as its page documents it: no simulator has it. */
function fakeCache() {
  const cache = { tags: [] as string[][], isFull: false }
  const purge: WorkersCache['purge'] = async ({ tags }) => {
    cache.tags.push(tags)
    return cache.isFull ? { success: false, errors: [{ message: 'rate limit' }] } : { success: true }
  }
  return Object.assign(cache, { purge })
}

async function ask(host: Host, cache: WorkersCache, request: Request): Promise<Response> {
  const behind: Promise<unknown>[] = []
  const response = await host.fetch(request, { cache, waitUntil: (work) => behind.push(work) })
  await Promise.all(behind)
  return response
}

const trigger = (host: Host, cache: WorkersCache) => host.scheduled({ cache, waitUntil() {} })

it('is purged behind the answer, put off as the cache says, and settled by the trigger', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { host, ledger } = await worker(t)
  const cache = fakeCache()
  const { body, contentType } = formOf(gif())
  const headers = { 'CF-Connecting-IP': '198.51.100.7', 'Content-Type': contentType }
  const stored = await ask(
    host,
    cache,
    new Request(`${SITE}/api/upload`, { method: 'POST', headers, body: new Uint8Array(body) }),
  )
  assert.equal(stored.status, 201)
  const { id, key } = (await stored.json()) as { id: string; key: string }
  assert.deepEqual(cache.tags, [])

  cache.isFull = true
  const remove = new Request(`${SITE}/api/delete?key=${key}`, { method: 'DELETE', headers })
  assert.equal((await ask(host, cache, remove)).status, 200)
  assert.deepEqual(cache.tags, [[`i-${id}`]])
  const owed = async () => (await ledger.pendingPurges()).count
  assert.equal(await owed(), 1)

  // A minute of the cache's limit is not over.
  cache.isFull = false
  await trigger(host, cache)
  assert.equal(cache.tags.length, 1)

  t.mock.timers.setTime(Date.now() + 16_000)
  await trigger(host, cache)
  assert.equal(cache.tags.length, 2)
  assert.equal(await owed(), 1, 'a fill may have been under way')

  t.mock.timers.setTime(Date.now() + 61_000)
  await trigger(host, cache)
  assert.deepEqual(cache.tags.slice(1), [[`i-${id}`], [`i-${id}`]])
  assert.equal(await owed(), 0)
})
