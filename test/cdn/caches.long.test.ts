/** Deletion through real caches: once acknowledged and purged, no later request gets the image. */
import assert from 'node:assert/strict'
import http from 'node:http'
import { after, before, describe, it } from 'node:test'
import { nginxCdn } from '../../src/cdn/nginx.ts'
import { RemoteFailure } from '../../src/errors.ts'
import { type Answer, request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import {
  CACHES,
  type Cache,
  freePort,
  skipWithout,
  startNginxBeside,
  startNginxTls,
} from '../support/processes/caches.ts'
import { type RunningServer, serverFor, startServer } from '../support/processes/server.ts'
import { type SlowOrigin, startSlowOrigin } from '../support/processes/slow-origin.ts'
import { PATIENT_MS, until } from '../support/until.ts'
import { post, remove, store } from '../support/upload.ts'

/** Long enough to hold a fill across a removal, short enough for a test. Unit: seconds. */
const FILL_SECONDS = 3

const PURGE_PATHS = {
  varnish: () => '/',
  nginx: (id: string) => `/purge/raw/${id}`,
}

for (const name of ['varnish', 'nginx'] as const) {
  const { needs, start } = CACHES[name]
  const purgePath = PURGE_PATHS[name]
  const skip = await skipWithout(needs, name)

  it(`does not cache images in ${name} without CDN_URL, as they would never be purged`, {
    skip,
  }, async (t) => {
    const server = await serverFor(t, {})
    const origin = await startSlowOrigin(() => server.port)
    const cache = await start(await freePort(), origin.port)
    try {
      const { id, key } = await store(server.url)
      const view = (headers = {}) => request(cache.url, 'GET', `/raw/${id}`, { headers })
      for (let i = 0; i < 2; i++) assert.equal((await view()).status, 200)
      assert.deepEqual(await statusesAtOnce(origin, `/raw/${id}`, view), new Set([200]))
      assert.equal((await view({ Range: 'bytes=0-3' })).status, 206)
      if (name === 'varnish') assert.equal(origin.lastHeaders().range, 'bytes=0-3', 'not the whole image')
      assert.equal((await remove(server.url, key)).status, 200)
      assert.equal((await view()).status, 404)
    } finally {
      await cache.stop()
      await origin.stop()
    }
  })

  describe(`deleting through ${name}`, { skip }, () => {
    let server: RunningServer
    let origin: SlowOrigin
    let cache: Cache

    before(async () => {
      const port = await freePort()
      server = await startServer({
        CDN_URL: `${name}://127.0.0.1:${port}?fill=${FILL_SECONDS}`,
        LOG_LEVEL: 'warn',
      })
      origin = await startSlowOrigin(() => server.port)
      cache = await start(port, origin.port)
    })
    after(async () => {
      await cache?.stop()
      await origin?.stop()
      await server?.stop()
    })

    const get = (path: string, headers = {}, method = 'GET'): Promise<Answer> =>
      request(cache.url, method, path, { headers })
    const pendingPurges = async () =>
      (await request(server.url, 'GET', '/readyz')).json().purgesOwed as number

    async function assertGone(id: string, etag: string, status = 404): Promise<void> {
      for (const path of [`/raw/${id}`, `/raw/${id}?dl=1`, `/raw/${id}.gif`, `/raw/${id}.gif?dl=1`]) {
        assert.equal((await get(path)).status, status, path)
        assert.equal((await get(path, {}, 'HEAD')).status, status, `HEAD ${path}`)
        assert.equal((await get(path, { 'If-None-Match': etag })).status, status, `conditional ${path}`)
        assert.equal((await get(path, { Range: 'bytes=0-3' })).status, status, `range ${path}`)
      }
    }

    it('caches images, and responds like the server', async () => {
      const { id, bytes } = await store(server.url)
      const first = await get(`/raw/${id}`)
      const [, second] = [first, await get(`/raw/${id}`)]
      for (const answer of [first, second]) {
        assert.equal(answer.status, 200)
        assert.deepEqual(answer.body, bytes)
        assert.equal(answer.headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
        assert.match(answer.headers.get('ETag') ?? '', /^"[0-9a-f]{64}"$/)
        assert.equal(answer.headers.get('Surrogate-Control') ?? answer.headers.get('X-Accel-Expires'), null)
      }
      const part = await get(`/raw/${id}`, { Range: 'bytes=1-3' })
      assert.equal(part.status, 206)
      assert.deepEqual(part.body, bytes.subarray(1, 4))
      const etag = first.headers.get('ETag') ?? ''
      assert.equal((await get(`/raw/${id}`, { 'If-None-Match': etag })).status, 304)
      origin.hold(`/raw/${id}`)
      assert.equal((await get(`/raw/${id}`)).status, 200, 'it comes from the cache')
      origin.release()
    })

    it('passes uploads and pages through', async () => {
      const { id } = await store(cache.url)
      assert.equal((await get(`/${id}`)).status, 200)
      assert.equal((await get('/')).status, 200)
      assert.equal((await get('/nothing')).status, 404)
    })

    it('allows only the servers to purge', async () => {
      const { id } = await store(server.url)
      assert.equal((await get(`/raw/${id}`)).status, 200)
      const headers = { 'X-Ban-Tags': `^(i-${id})$` }
      const purge = { method: 'PURGE', path: purgePath(id), headers }
      assert.equal(await statusFrom('127.0.0.2', cache.url, purge), 403)
      if (name === 'varnish') {
        // A TLS proxy on the same machine connects from an allowed address.
        const proxied = { ...headers, 'X-Forwarded-For': '203.0.113.7' }
        assert.equal((await get('/', proxied, 'PURGE')).status, 403)
        for (const tags of ['.', `^(i-${id}|)$`, `^(i-${id}|.*)$`, `i-${id}`, undefined]) {
          const sent = tags === undefined ? {} : { 'X-Ban-Tags': tags }
          assert.equal((await get('/', sent, 'PURGE')).status, 400, tags)
        }
      }
      origin.hold(`/raw/${id}`)
      assert.equal((await get(`/raw/${id}`)).status, 200, 'it comes from the cache')
      origin.release()
    })

    it('purges every URL of a deleted image', async () => {
      const { id, key } = await store(server.url)
      const paths = [`/raw/${id}`, `/raw/${id}?dl=1`, `/raw/${id}.gif`, `/raw/${id}.gif?dl=1`]
      for (const path of paths) assert.equal((await get(path)).status, 200)
      const etag = (await get(paths[0]!)).headers.get('ETag') ?? ''
      assert.equal((await remove(server.url, key)).status, 200)
      await until('the first purge is done', async () => (await get(paths[0]!)).status === 404)
      await assertGone(id, etag)
      assert.deepEqual(await statusesAtOnce(origin, paths[0]!, () => get(paths[0]!)), new Set([404]))
    })

    it('shows no image after its expiry', async () => {
      const { id, expires } = (await post(server.url, gif(), undefined, { query: '?expires=60' })).json()
      assert.equal((await get(`/raw/${id}`)).status, 200)
      let status = 0
      const isOver = async () => {
        // The age of a cached copy has whole seconds.
        const isLate = Date.now() >= Date.parse(expires) + 1000
        status = (await get(`/raw/${id}`)).status
        return isLate
      }
      await until('the expiry has passed', isOver, 3 * PATIENT_MS)
      assert.equal(status, 404)
    })

    it('purges an image whose fill was in flight during its deletion', async () => {
      const { id, key } = await store(server.url)
      const later = await store(server.url)
      assert.equal((await get(`/raw/${later.id}`)).status, 200)
      origin.hold(`/raw/${id}`)
      const fill = get(`/raw/${id}`)
      await until('the server has answered, and the cache has not heard it', () => origin.held() === 1)
      assert.equal((await remove(server.url, key)).status, 200)
      assert.equal((await remove(server.url, later.key)).status, 200)
      await until('the first purge is done', async () => (await get(`/raw/${later.id}`)).status === 404)
      origin.release()
      const late = await fill
      assert.equal(late.status, 200)
      assert.equal(
        (await get(`/raw/${id}`)).status,
        200,
        'the cache holds the deleted image: one purge alone is not enough',
      )
      await until('no purges are pending', async () => (await pendingPurges()) === 0)
      await assertGone(id, late.headers.get('ETag') ?? '')
    })

    it('purges a held image, even with a fill in flight, and serves it again after its release', async () => {
      const { id, bytes } = await store(server.url)
      origin.hold(`/raw/${id}`)
      const fill = get(`/raw/${id}`)
      await until('the server has answered, and the cache has not heard it', () => origin.held() === 1)
      assert.equal((await server.operator(['hold', id, '--reason', 'x'])).code, 0)
      origin.release()
      const { headers } = await fill
      await until('no purges are pending', async () => (await pendingPurges()) === 0)
      await assertGone(id, headers.get('ETag') ?? '', 403)
      assert.equal((await get(`/${id}`)).status, 403, 'its page')
      assert.equal((await server.operator(['release', id, '--reason', 'x'])).code, 0)
      const again = await get(`/raw/${id}`)
      assert.deepEqual([again.status, again.body], [200, bytes])
      origin.hold(`/raw/${id}`)
      assert.equal((await get(`/raw/${id}`)).status, 200, 'it is cached again')
      origin.release()
      assert.equal((await server.operator(['remove', id, '--reason', 'x'])).code, 0)
      await until('no purges are pending', async () => (await pendingPurges()) === 0)
      await assertGone(id, headers.get('ETag') ?? '', 410)
    })
  })
}

const { needs } = CACHES.nginx
it('purges nginx with TLS through its port without', {
  skip: await skipWithout([...needs, 'openssl']),
}, async (t) => {
  const port = await freePort()
  const server = await serverFor(t, { CDN_URL: `nginx://127.0.0.1:${port}` })
  const cache = await startNginxTls(port, await freePort(), server.port)
  t.after(() => cache.stop())
  const { id, key } = await store(server.url)
  const view = () => request(cache.url, 'GET', `/raw/${id}`)
  for (let i = 0; i < 2; i++) assert.equal((await view()).status, 200)
  assert.equal((await remove(server.url, key)).status, 200)
  await until('the purge is done', async () => (await view()).status === 404)
})

it('purges nginx beside a site that is the default on its port, and notices purges that reach that one', {
  skip: await skipWithout(needs, 'nginx'),
}, async (t) => {
  const [port, publicPort] = [await freePort(), await freePort()]
  const server = await serverFor(t, { CDN_URL: `nginx://127.0.0.1:${port}` })
  const cache = await startNginxBeside(port, publicPort, server.port)
  t.after(() => cache.stop())
  const { id, key } = await store(server.url)
  const origin = `http://127.0.0.1:${publicPort}`
  const view = () => request(origin, 'GET', `/raw/${id}`, { headers: { Host: 'pics.example' } })
  for (let i = 0; i < 2; i++) assert.equal((await view()).status, 200)
  await assert.rejects(nginxCdn(new URL(`nginx://127.0.0.1:${publicPort}`)).purge([id]), RemoteFailure)
  assert.equal((await remove(server.url, key)).status, 200)
  await until('the purge is done', async () => (await view()).status === 404)
})

/** The statuses of requests that the origin answers only once all of them have reached it. The cache has seen one before. */
async function statusesAtOnce(origin: SlowOrigin, target: string, view: () => Promise<Answer>) {
  await view()
  origin.hold(target)
  const views = Array.from({ length: 6 }, () => view())
  await until('no request waits for the response to another', () => origin.held() === views.length)
  origin.release()
  return new Set((await Promise.all(views)).map(({ status }) => status))
}

/** Sends a request from another address of this machine. */
function statusFrom(localAddress: string, url: string, options: http.RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request(url, { ...options, localAddress, agent: false }, (incoming) => {
      incoming.resume()
      incoming.on('end', () => resolve(incoming.statusCode!))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}
