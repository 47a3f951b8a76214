/** The API description: how it is discovered, its content, and that every documented response occurs. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { ApiDocument } from '../../../src/openapi.ts'
import { unseen } from './document.ts'
import { isOneServer, needsOwnCompression, visit, visitsTo, type World } from './host.ts'
import { checkPage } from './rules.ts'

/** Responses that a proxy sends itself, because it does not forward broken or slow requests. */
const ANSWERED_BY_PROXY = /^(upload 408|anywhere (400|408|417|431))/

/** The test can only be sure to fill the queue of a single server. */
const SINGLE_SERVER_ONLY = 'upload 503 busy'

export function documentCases(world: World): void {
  const withOwnCompression = visitsTo(world, world.main, needsOwnCompression)
  const onStrict = visitsTo(world, world.strict)
  const onMain = visitsTo(world, world.main)

  it('serves the OpenAPI document with the base URL of the host, an ETag and CORS for any site', async () => {
    for (const hostOf of [world.main, world.strict]) {
      const me = await visit(world, hostOf)
      const answer = await me.get('/openapi.json', { Origin: 'https://anybody.example' })
      assert.equal(answer.status, 200)
      const document: ApiDocument = answer.json()
      assert.match(document.openapi, /^3\.1\.\d$/)
      assert.deepEqual(document.servers, [{ url: me.host.baseUrl }])
      assert.equal(answer.headers.get('Access-Control-Allow-Origin'), '*')
      const etag = answer.headers.get('ETag')!
      const again = await me.get('/openapi.json', { 'If-None-Match': etag })
      assert.equal(again.status, 304)
      assert.equal(again.headers.get('ETag'), etag)
    }
  })

  withOwnCompression('serves compressed variants of the document, each with its own ETag', async (me) => {
    const plain = await me.get('/openapi.json')
    assert.equal(plain.headers.get('Content-Encoding'), null)
    const tags = [plain.headers.get('ETag')]
    for (const [accepted, coding, decompress] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ] as const) {
      const answer = await me.get('/openapi.json', { 'Accept-Encoding': accepted })
      assert.equal(answer.headers.get('Content-Encoding'), coding, accepted)
      assert.equal(answer.headers.get('Vary'), 'Accept-Encoding')
      assert.ok(decompress(answer.body).equals(plain.body))
      assert.ok(answer.body.length < plain.body.length / 4, `${answer.body.length} of ${plain.body.length}`)
      const etag = answer.headers.get('ETag')!
      tags.push(etag)
      const headers = { 'Accept-Encoding': accepted, 'If-None-Match': etag }
      assert.equal((await me.get('/openapi.json', headers)).status, 304)
      assert.equal((await me.get('/openapi.json', { 'If-None-Match': etag })).status, 200)
    }
    assert.equal(new Set(tags).size, 3)
    const none = await me.get('/openapi.json', { 'Accept-Encoding': 'br;q=0, gzip;q=0' })
    assert.equal(none.headers.get('Content-Encoding'), null)
  })

  onStrict('documents the configured limits', async (me) => {
    const document: ApiDocument = (await me.get('/openapi.json')).json()
    const { description } = document.paths['/api/upload']!.post!
    assert.match(description!, /\b4000 bytes\b/)
    assert.match(description!, /\b2 images per UTC day\b/)
  })

  onMain('links from the home page to the document, the reference and the catalog', async (me) => {
    for (const path of ['/', '/openapi.json', '/api']) {
      const link = (await me.request('HEAD', path)).headers.get('Link') ?? ''
      assert.match(link, /<\/openapi\.json>; rel="service-desc"/)
      assert.match(link, /<\/api>; rel="service-doc"/)
    }
    const answer = await me.get('/.well-known/api-catalog')
    assert.equal(answer.headers.get('Content-Type'), 'application/linkset+json')
    const [entry] = answer.json().linkset
    assert.equal(entry.anchor, `${me.host.baseUrl}/`)
    assert.equal(
      (await me.get('/.well-known/api-catalog', { 'If-None-Match': answer.headers.get('ETag')! })).status,
      304,
    )
    for (const rel of ['service-desc', 'service-doc', 'terms-of-service', 'status']) {
      const { href, type } = entry[rel][0]
      const found = await me.get(href.replace(me.host.baseUrl, ''))
      assert.equal(found.status, 200, href)
      assert.ok(found.headers.get('Content-Type')?.startsWith(type), href)
    }
  })

  onMain(
    'lists every operation and error code in the reference, to which problem details link',
    async (me) => {
      const document: ApiDocument = (await me.get('/openapi.json')).json()
      const page = await me.get('/api')
      checkPage(page, 200)
      assert.match(page.text, /<html lang="en"/)
      for (const [path, item] of Object.entries(document.paths)) {
        for (const [method, { operationId, 'x-codeSamples': samples = [] }] of Object.entries(item)) {
          assert.ok(page.text.includes(`id="${operationId}"`), operationId)
          assert.ok(page.text.includes(`<code>${method.toUpperCase()} ${path}</code>`), path)
          for (const { label } of samples)
            assert.ok(page.text.includes(`<figcaption>${label}</figcaption>`), label)
        }
      }
      const refusals = [
        await me.post({ contentType: 'text/plain', body: Buffer.from('x') }),
        await me.get('/raw/AAAAAAAAAAA'),
        await me.remove('x'),
        await me.request('PUT', '/api/upload'),
      ]
      for (const refusal of refusals) {
        const to = new URL(refusal.json().type, me.host.baseUrl)
        assert.equal(to.pathname, '/api')
        assert.equal(to.hash, `#${refusal.json().error}`)
        assert.ok(page.text.includes(`id="${to.hash.slice(1)}"`), to.hash)
      }
      const ids = [...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, 'anchors are unique')
    },
  )

  onMain('links to the tools and the API in the page footer', async (me) => {
    const home = await me.get('/')
    assert.match(home.text, /<footer[\s\S]*<a href="\/tools">[\s\S]*<a href="\/api">[\s\S]*<\/footer>/)
    const page = await me.get('/tools')
    checkPage(page, 200)
    for (const address of ['/sharex.sxcu', '/upload.sh', '/llms.txt', '/api']) {
      assert.ok(page.text.includes(`href="${address}"`), address)
      assert.equal((await me.get(address)).status, 200)
    }
    for (const word of [
      './upload.sh holiday.jpg',
      `${me.host.baseUrl}/upload.sh`,
      `${me.host.baseUrl}/api/upload`,
      `customPrefix: ${me.host.baseUrl}/raw/`,
    ]) {
      assert.ok(page.text.includes(word), word)
    }
  })

  onMain('serves upload instructions for AI agents, with the base URL of the host', async (me) => {
    const guide = await me.get('/llms.txt')
    assert.match(guide.headers.get('Content-Type') ?? '', /^text\/plain/)
    assert.ok(guide.text.includes(`curl -sS -F file=@picture.png ${me.host.baseUrl}/api/upload`))
    assert.match(guide.text, /up to 25 MB/)
    assert.match(guide.text, /random `Idempotency-Key`.*keep it secret/)
  })
}

/** The last case: every documented response has occurred. */
export function documentIsCovered(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain('has sent every documented response', async (me, t) => {
    if (me.host.operator === undefined) return t.skip('does not apply: this host has no operator command')
    if (me.host.isEdge || me.host.isDiskSound) {
      return t.skip('does not apply: without disk faults, some responses never occur')
    }
    const document: ApiDocument = (await me.get('/openapi.json')).json()
    const missing = unseen(document, world.seen).filter(
      (name) =>
        (me.host.direct || !ANSWERED_BY_PROXY.test(name)) &&
        (isOneServer(me.host) || name !== SINGLE_SERVER_ONLY),
    )
    assert.deepEqual(missing, [], 'documented in src/openapi.ts, but no case produced it')
  })
}
