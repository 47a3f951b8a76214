/** What answers carry for the cache that is configured, on the wire. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { extent } from '../support/extent.ts'
import { type Answer, request } from '../support/http.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { type Stored, store } from '../support/upload.ts'

const PROVIDERS: Record<string, (id: string) => Record<string, string>> = {
  'cloudflare://zone1?token=secret': (id) => ({
    'Cloudflare-CDN-Cache-Control': 'public, max-age=3600, must-revalidate',
    'Cache-Tag': `i-${id}`,
  }),
  'fastly://service1?token=secret': (id) => ({
    'Surrogate-Control': 'max-age=3600, stale-if-error=0',
    'Surrogate-Key': `i-${id}`,
  }),
  'varnish://127.0.0.1:1': (id) => ({ 'Surrogate-Control': 'max-age=3600', 'Cache-Tag': `i-${id}` }),
  'nginx://127.0.0.1:1': () => ({ 'X-Accel-Expires': '3600' }),
}
const LIFETIMES = ['Cloudflare-CDN-Cache-Control', 'Surrogate-Control', 'X-Accel-Expires']

for (const [url, headersOf] of Object.entries(PROVIDERS).slice(0, extent(Infinity, 1))) {
  describe(`behind ${url.split(':')[0]}`, () => {
    let server: RunningServer
    let image: Stored
    before(async () => {
      server = await startServer({ CDN_URL: url, LOG_LEVEL: 'error' })
      image = await store(server.url)
    })
    after(() => server?.stop())
    const get = (path: string, headers = {}, method = 'GET'): Promise<Answer> =>
      request(server.url, method, path, { headers })

    it('every answer with the image carries tag and lifetime', async () => {
      const { id } = image
      const etag = (await get(`/raw/${id}`)).headers.get('ETag')!
      const answers: [number, Answer][] = [
        [200, await get(`/raw/${id}`)],
        [200, await get(`/raw/${id}?dl=1`)],
        [200, await get(`/raw/${id}.gif`)],
        [200, await get(`/raw/${id}`, {}, 'HEAD')],
        [206, await get(`/raw/${id}`, { Range: 'bytes=0-1' })],
        [304, await get(`/raw/${id}`, { 'If-None-Match': etag })],
      ]
      for (const [status, { status: answered, headers }] of answers) {
        assert.equal(answered, status)
        for (const [name, value] of Object.entries(headersOf(id))) assert.equal(headers.get(name), value)
        assert.equal(headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
      }
    })

    it('no other answer has a lifetime', async () => {
      const { id } = image
      const others = [
        await get('/raw/AAAAAAAAAAA'),
        await get(`/raw/${id}.png`),
        await get(`/raw/${id}?x=1`),
        await get(`/raw/${id}`, { Range: 'bytes=999999-' }),
        await get(`/raw/${id}`, { 'If-Match': '"other"' }),
        await get(`/${id}`),
        await get('/AAAAAAAAAAA'),
        await get('/readyz'),
      ]
      for (const { status, headers } of others) {
        for (const name of LIFETIMES) assert.equal(headers.get(name), null, `${status}: ${name}`)
        assert.doesNotMatch(headers.get('Cache-Control') ?? '', /max-age=[1-9]/, `${status}`)
        assert.doesNotMatch(headers.get('CDN-Cache-Control') ?? '', /max-age=[1-9]/, `${status}`)
      }
    })
  })
}
