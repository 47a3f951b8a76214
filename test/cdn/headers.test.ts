/** Response headers for the configured cache. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { type Answer, request } from '../support/http.ts'
import { startServer } from '../support/processes/server.ts'
import { store } from '../support/upload.ts'

const LIFETIMES = ['Cloudflare-CDN-Cache-Control', 'Surrogate-Control', 'X-Accel-Expires']

const server = await startServer({ CDN_URL: 'fastly://service1?token=secret', LOG_LEVEL: 'error' })
after(() => server.stop())
const { id } = await store(server.url)

function get(path: string, headers = {}, method = 'GET'): Promise<Answer> {
  return request(server.url, method, path, { headers })
}

it('sends tag and lifetime with every image response', async () => {
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
    assert.equal(headers.get('Surrogate-Control'), 'max-age=3600, stale-if-error=0')
    assert.equal(headers.get('Surrogate-Key'), `i-${id}`)
    assert.equal(headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
  }
})

it('sends no lifetime with any other response', async () => {
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

it('keeps answers out of Cloudflare for which it keeps a copy of their own, as purges by URL miss those', async (t) => {
  const server = await startServer({
    BASE_URL: 'https://pics.example',
    CDN_URL: 'cloudflare://zone?token=secret&api=http://127.0.0.1:1',
  })
  t.after(() => server.stop())
  const { id } = await store(server.url)
  // From the file first, and from memory once it was viewed more often.
  for (let view = 0; view < 6; view++) {
    for (const path of [`/raw/${id}`, `/preview/${id}`]) {
      for (const [headers, expected] of [
        [{}, 'public, max-age=3600, must-revalidate'],
        [
          { 'X-Forwarded-Host': 'pics.example', 'X-Forwarded-Scheme': 'https' },
          'public, max-age=3600, must-revalidate',
        ],
        [{ Origin: 'https://forum.example' }, 'no-store'],
        [{ Forwarded: 'for=192.0.2.1' }, 'no-store'],
        [{ 'X-HTTP-Method-Override': 'GET' }, 'no-store'],
        [{ 'X-Forwarded-Host': 'other.example' }, 'no-store'],
        [{ 'X-Forwarded-Scheme': 'x' }, 'no-store'],
      ] as const) {
        const answer = await request(server.url, 'GET', path, { headers })
        assert.equal(answer.headers.get('Cloudflare-CDN-Cache-Control'), expected, path)
        assert.equal(answer.headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
      }
    }
  }
})
