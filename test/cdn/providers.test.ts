import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cloudflareCdn } from '../../src/cdn/cloudflare.ts'
import { fastlyCdn } from '../../src/cdn/fastly.ts'
import { nginxCdn } from '../../src/cdn/nginx.ts'
import { call } from '../../src/cdn/provider-call.ts'
import { varnishCdn } from '../../src/cdn/varnish.ts'
import { RemoteFailure } from '../../src/errors.ts'
import { openCdn } from '../../src/node/open/cdn.ts'
import { cdnContract } from '../contracts/cdn.ts'
import type { Asked } from '../support/processes/fake-provider.ts'

const untag = (tag: string) => tag.replace(/^i-/, '')
const lists = (key: string) => (asked: Asked) => (JSON.parse(asked.body)[key] as string[]).map(untag)

// As recorded from POST /zones/{zone_id}/purge_cache.
const cloudflareSuccess = {
  success: true,
  errors: [],
  messages: [],
  result: { id: '023e105f4ecef8ad9ca31a8372d0c353' },
}
const cloudflareFailure = {
  success: false,
  errors: [
    {
      code: 1134,
      message: 'Unable to purge ABC, rate limit reached. Please wait if you need to perform more operations',
    },
  ],
  messages: [],
  result: null,
}

cdnContract({
  name: 'Cloudflare',
  open: (host) => cloudflareCdn(new URL(`cloudflare://zone1?token=secret&api=http://${host}`)),
  success: ({ body }) =>
    JSON.parse(body).tags.length > 100
      ? { status: 400 }
      : { status: 200, body: JSON.stringify(cloudflareSuccess) },
  lies: {
    '200 with "success": false': { status: 200, body: JSON.stringify(cloudflareFailure) },
    '200 with a page': { status: 200, body: '<html>Just a moment…</html>' },
    '200 with null': { status: 200, body: 'null' },
    '200 with "success": "true"': { status: 200, body: '{"success":"true"}' },
    '204 without a body': { status: 204 },
  },
  idsIn: lists('tags'),
  headers: {
    'Cache-Tag': 'i-aaaaaaaaaaa',
    'Cloudflare-CDN-Cache-Control': 'public, max-age=3600, must-revalidate',
  },
})

cdnContract({
  name: 'Fastly',
  open: (host) => fastlyCdn(new URL(`fastly://SU1Z0isxPaozGVKXdv0eY?token=secret&api=http://${host}`)),
  // As recorded from POST /service/{service_id}/purge.
  success(asked) {
    const keys: string[] = JSON.parse(asked.body).surrogate_keys
    if (keys.length > 256) return { status: 400 }
    return {
      status: 200,
      body: JSON.stringify(Object.fromEntries(keys.map((key) => [key, '108-1391560174-974124']))),
    }
  },
  lies: {
    '200 that names fewer keys': { status: 200, body: '{"i-aaaaaaaaaaa":"108-1"}' },
    '200 with a page': { status: 200, body: '<html></html>' },
    '200 with null': { status: 200, body: 'null' },
  },
  idsIn: lists('surrogate_keys'),
  headers: { 'Surrogate-Control': 'max-age=3600, stale-if-error=0', 'Surrogate-Key': 'i-aaaaaaaaaaa' },
})

cdnContract({
  name: 'Varnish',
  open: (host) => varnishCdn(new URL(`varnish://${host}`)),
  success: () => ({ status: 200, reason: 'Banned' }),
  lies: {
    '204 of something that is no Varnish': { status: 204 },
    '200 of another VCL': { status: 200, reason: 'Purged' },
  },
  idsIn: ({ headers }) =>
    /^\^\((.*)\)\$$/
      .exec(headers['x-ban-tags'] as string)![1]!
      .split('|')
      .map(untag),
  headers: { 'Cache-Tag': 'i-aaaaaaaaaaa', 'Surrogate-Control': 'max-age=3600' },
})

cdnContract({
  name: 'nginx',
  open: (host) => nginxCdn(new URL(`nginx://${host}`)),
  // 404 and 412: the module's responses for "not cached".
  success: ({ target }) => ({
    status: target.endsWith('?dl=1') ? 404 : target.endsWith('.gif') ? 412 : 200,
    headers: { 'X-Pinhole-Purge': '1' },
  }),
  lies: {
    '405 of an nginx without the module': { status: 405, headers: { 'X-Pinhole-Purge': '1' } },
    '404 of another site': { status: 404 },
  },
  idsIn: ({ target }) => [/^\/purge\/(?:raw|preview)\/(\w+)/.exec(target)![1]!],
  headers: { 'Cache-Tag': 'i-aaaaaaaaaaa', 'X-Accel-Expires': '3600' },
})

describe('cdn requests', () => {
  it('send the token to Cloudflare as a bearer token', async (t) => {
    let seen: [string, RequestInit] | undefined
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      seen = [url, init]
      return Response.json(cloudflareSuccess)
    })
    await cloudflareCdn(new URL('cloudflare://zone1?token=secret')).purge(['aaaaaaaaaaa'])
    assert.equal(seen?.[0], 'https://api.cloudflare.com/client/v4/zones/zone1/purge_cache')
    assert.equal(new Headers(seen?.[1].headers).get('Authorization'), 'Bearer secret')
  })

  it('share one timeout in a purge with several calls to Cloudflare', async (t) => {
    const signals: unknown[] = []
    t.mock.method(globalThis, 'fetch', async (_url: string, { signal }: RequestInit) => {
      signals.push(signal)
      return Response.json(cloudflareFailure)
    })
    const cdn = cloudflareCdn(new URL('cloudflare://zone1?token=secret'), 'https://pics.example')
    await assert.rejects(cdn.purge(['aaaaaaaaaaa']), RemoteFailure)
    assert.equal(signals.length, 2, 'by URL, then by tag')
    assert.equal(signals[0], signals[1])
  })

  it('stay within the limits of purges by tag where the public URL is unknown', () => {
    const { batchSize, rate } = cloudflareCdn(new URL('cloudflare://zone1?token=secret'))
    assert.deepEqual({ batchSize, rate }, { batchSize: 100, rate: { intervalMs: 12_000, burst: 25 } })
  })

  it('send the token to Fastly, and preserve the case of its service ID', async (t) => {
    let seen = ''
    t.mock.method(globalThis, 'fetch', async (url: string, { headers }: RequestInit) => {
      seen = url
      assert.equal(new Headers(headers).get('Fastly-Key'), 'secret')
      return Response.json({ 'i-aaaaaaaaaaa': '1' })
    })
    await fastlyCdn(new URL('fastly://SU1Z0isxPaozGVKXdv0eY?token=secret')).purge(['aaaaaaaaaaa'])
    assert.equal(seen, 'https://api.fastly.com/service/SU1Z0isxPaozGVKXdv0eY/purge')
  })

  it('time out when a provider does not respond', async (t) => {
    t.mock.method(globalThis, 'fetch', async (_url: string, { signal }: RequestInit) => {
      assert.ok(signal, 'the call has a timeout')
      throw new DOMException('The operation timed out.', 'TimeoutError')
    })
    await assert.rejects(call('http://provider.example/', {}), RemoteFailure)
  })
})

const done = () => new Response('', { statusText: 'Banned', headers: { 'X-Pinhole-Purge': '1' } })

for (const [name, open, callsPerHost] of [
  ['Varnish', varnishCdn, 1],
  ['nginx', nginxCdn, 13],
] as const) {
  describe(`${name} on several machines`, () => {
    const purge = async (t: TestContext, answer: (host: string) => Response) => {
      const seen = new Map<string, number>()
      const signals = new Set<unknown>()
      const url = new URL(`${name.toLowerCase()}://one:80?peer=two:80&peer=three:80`)
      let inFlight = 0
      t.mock.method(globalThis, 'fetch', async (address: string, { signal }: RequestInit) => {
        const { hostname } = new URL(address)
        seen.set(hostname, (seen.get(hostname) ?? 0) + 1)
        signals.add(signal)
        const response = answer(hostname)
        if (!response.ok) return response
        inFlight++
        await nextTurn()
        inFlight--
        return response
      })
      const outcome = await open(url)
        .purge(['aaaaaaaaaaa'])
        .catch((error) => error)
      assert.equal(inFlight, 0)
      return { outcome, seen, signals }
    }

    for (const broken of ['one', 'two', 'three']) {
      it(`is purged on all hosts, even when ${broken} fails`, async (t) => {
        const { outcome, seen } = await purge(t, (host) =>
          host === broken ? new Response(null, { status: 500 }) : done(),
        )
        assert.ok(outcome instanceof RemoteFailure)
        assert.deepEqual(
          [...seen],
          ['one', 'two', 'three'].map((host) => [host, callsPerHost]),
        )
      })
    }

    it('uses a single timeout for the whole purge', async (t) => {
      const { outcome, signals } = await purge(t, done)
      assert.equal(outcome, undefined)
      // nginx takes several calls per host, which must share one timeout.
      assert.ok(name === 'Varnish' || signals.size === 1)
      for (const signal of signals) assert.ok(signal instanceof AbortSignal)
    })
  })
}

describe('CDN_URL', () => {
  const wrong = {
    'https://example.com': /must begin with/,
    'cloudflare://zone1': /token/,
    'fastly://service1': /token/,
    'varnish://127.0.0.1:80?fill=soon': /fill/,
    'varnish:': /must begin with/,
    'nginx://127.0.0.1:80?peers=10.0.0.2:80': /peer, fill/,
    'cloudflare://zone1?token=secret&purge=5': /purges/,
  }
  for (const [url, message] of Object.entries(wrong)) {
    it(`refuses ${url}`, () => assert.throws(() => openCdn(url), message))
  }

  it('selects the provider by URL scheme', () => {
    for (const url of [
      'cloudflare://zone1?token=a',
      'fastly://service1?token=a',
      'nginx://one',
      'varnish://one',
    ])
      assert.equal(openCdn(url).name, url.split(':')[0])
  })

  it('does not reveal a token in error messages', () => {
    for (const url of ['cloudflare://zone1?token=secret&fill=x', 'cloudflare://zone1?secret&token=x']) {
      assert.throws(
        () => openCdn(url),
        (error: Error) => !error.message.includes('secret'),
      )
    }
  })

  it('parses the maximum fill time', () => {
    assert.equal(openCdn('varnish://127.0.0.1:80?fill=3').maxFillMs, 3000)
    assert.equal(openCdn('varnish://127.0.0.1:80').maxFillMs, 60_000)
  })
})
