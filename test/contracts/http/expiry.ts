/** Image expiry: the `expires` parameter, the response, and cache lifetimes. */
import assert from 'node:assert/strict'
import type { UploadAnswer } from '../../../src/protocol.ts'
import { gif, png } from '../../support/images/tiny-images.ts'
import { idempotentUploads, type Visitor, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

/** Allows for clock skew and the duration of an upload. Unit: seconds. */
const TOLERANCE = 30

export function expiryCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onFleeting = visitsTo(world, world.fleeting)

  async function store(me: Visitor, query: string, bytes = gif()): Promise<UploadAnswer> {
    const answer = await me.upload(bytes, {}, query)
    assert.equal(answer.status, 201, answer.text)
    return answer.json()
  }

  function secondsLeft({ expires }: UploadAnswer): number {
    assert.match(expires ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    return (Date.parse(expires!) - Date.now()) / 1000
  }

  onMain('returns expires for images that expire, and only for them', async (me) => {
    for (const [lifetime, seconds] of [
      ['1h', 3600],
      ['1d', 86_400],
      ['7d', 604_800],
      ['30d', 2_592_000],
      ['60', 60],
      ['31536000', 31_536_000],
    ] as const) {
      const stored = await store(me, `?expires=${lifetime}`)
      assert.deepEqual(Object.keys(stored), ['id', 'link', 'key', 'delete', 'expires'])
      assert.ok(Math.abs(secondsLeft(stored) - seconds) < TOLERANCE, `${lifetime}: ${stored.expires}`)
    }
    assert.deepEqual(Object.keys(await store(me, '?other=1')), ['id', 'link', 'key', 'delete'])
  })

  onMain('refuses an invalid lifetime', async (me) => {
    const values = ['', ' 60', '9'.repeat(400), '%00', '１００']
    values.push(...'0 59 31536001 -60 1.5 60.0 1e3 0x60 2d 1D 60s never'.split(' '))
    for (const value of values) {
      checkProblem(await me.upload(gif(), {}, `?expires=${encodeURIComponent(value)}`), 400, 'bad-expires')
    }
    checkProblem(await me.upload(gif(), {}, '?expires=60&expires=120'), 400, 'bad-expires')
    checkPage(await me.upload(gif(), { Accept: 'text/html' }, '?expires=soon'), 400)
    assert.equal(await me.remaining(), 100)
  })

  onMain('limits the sum of cache lifetimes to the remaining time', async (me) => {
    for (const [lifetime, bytes] of [
      ['60', gif()],
      ['1h', gif({ size: 300_000 })],
      ['1d', png(6, 6)],
    ] as const) {
      const stored = await store(me, `?expires=${lifetime}`, bytes)
      // Remaining time as of the first response, which caches repeat.
      const maxSeconds = secondsLeft(stored) + 1
      const { etag } = Object.fromEntries((await me.get(`/raw/${stored.id}`)).headers) as { etag: string }
      for (const [status, headers, method = 'GET', path = `/raw/${stored.id}`] of [
        [200, {}],
        [200, {}],
        [200, {}, 'HEAD'],
        [200, {}, 'GET', `/raw/${stored.id}?dl=1`],
        [206, { Range: 'bytes=0-3' }],
        [304, { 'If-None-Match': etag }],
      ] as const) {
        const answer = await me.request(method, path, { headers })
        // A cache in front may serve a range from its copy of the whole image.
        assert.ok(
          answer.status === status || (me.host.isEdge && status === 206),
          `${status}: ${answer.status}`,
        )
        const own = /^public, max-age=(\d+), s-maxage=(\d+), must-revalidate, immutable$/.exec(
          answer.headers.get('Cache-Control') ?? '',
        )
        const cdn = /^public, max-age=(\d+), must-revalidate$/.exec(
          answer.headers.get('CDN-Cache-Control') ?? '',
        )
        assert.ok(
          own && cdn,
          `${answer.headers.get('Cache-Control')}; ${answer.headers.get('CDN-Cache-Control')}`,
        )
        const [browser, shared] = [Number(own[1]), Number(own[2])]
        assert.equal(Number(cdn[1]), shared)
        assert.ok(shared <= 3600)
        // A browser's lifetime starts when a shared cache responds, possibly just before its own copy expires.
        assert.ok(browser + shared <= maxSeconds, `${browser} + ${shared}`)
        assert.ok(browser + shared > secondsLeft(stored) - TOLERANCE)
        assert.equal(answer.headers.get('Expires'), null)
      }
    }
  })

  onMain('shows the expiry on pages, and offers one day in the form without scripts', async (me) => {
    const home = (await me.get('/')).text
    const action = /formaction="([^"]+)"/.exec(home)?.[1]
    assert.equal(action, '/api/upload?expires=1d')
    const result = await me.upload(gif(), { Accept: 'text/html' }, '?expires=1d')
    assert.equal(result.status, 201, result.text)
    const key = /key=([0-9A-Za-z]{43})/.exec(result.text)![1]!
    world.keys.add(key)
    const time = /<time datetime="([^"]+)">/.exec(result.text)?.[1]
    assert.ok(time && Math.abs(secondsLeft({ expires: time } as UploadAnswer) - 86_400) < TOLERANCE, time)
    assert.ok((await me.get(`/${key.slice(0, 11)}`)).text.includes(`<time datetime="${time}">`))
    const { id } = await me.store()
    assert.doesNotMatch((await me.get(`/${id}`)).text, /<time/)
    const fleeting = await visit(world, world.fleeting)
    const { text } = await fleeting.get('/')
    assert.doesNotMatch(text, /stays until you delete it/)
    const select = /<select id="expires".*?<\/select>/s.exec(text)![0]
    const options = [...select.matchAll(/<option value="(.*?)">(.*?)</g)].map(([, ...option]) => option)
    assert.deepEqual(options, [
      ['', 'This service’s default (1 hour)'],
      ['1h', 'For 1 hour'],
      ['1d', 'For 1 day'],
    ])
  })

  onMain('serves and deletes an unexpired image like any other', async (me) => {
    const { id, key, link } = await store(me, '?expires=1800')
    assert.equal((await me.get(`/${id}`)).status, 200)
    const { cache_age } = (await me.get(`/oembed?url=${encodeURIComponent(link)}`)).json()
    assert.ok(cache_age > 0 && cache_age <= 1800, `${cache_age}`)
    assert.equal((await me.remove(key)).status, 200)
    for (const path of [`/raw/${id}`, `/${id}`]) assert.equal((await me.get(path)).status, 404)
    checkProblem(await me.remove(key), 404, 'unknown-key')
  })

  onMain('answers a retry like the first upload, whatever lifetime it requests', async (me) => {
    const key = idempotentUploads(world).newIdempotencyKey()
    const bytes = gif()
    const first = await me.upload(bytes, { 'Idempotency-Key': key }, '?expires=1d')
    for (const query of ['?expires=1d', '?expires=1h', '']) {
      const again = await me.upload(bytes, { 'Idempotency-Key': key }, query)
      assert.equal(again.status, 201, again.text)
      assert.equal(again.text, first.text)
    }
    assert.equal(await me.remaining(), 99)
  })

  onMain('offers a ShareX configuration with a lifetime', async (me) => {
    const plain = (await me.get('/sharex.sxcu')).json()
    const { Parameters, Name, ...others } = (await me.get('/sharex.sxcu?expires=1d')).json()
    assert.deepEqual(Parameters, { expires: '1d' })
    assert.notEqual(Name, plain.Name)
    assert.deepEqual({ ...others, Name: plain.Name }, plain)
    checkProblem(await me.get('/sharex.sxcu?expires=soon'), 400, 'bad-expires')
  })

  onFleeting('applies the operator’s default and maximum lifetime', async (me) => {
    for (const [query, seconds] of [
      ['', 3600],
      ['?expires=60', 60],
      ['?expires=1d', 86_400],
      ['?expires=30d', 2 * 86_400],
    ] as const) {
      assert.ok(Math.abs(secondsLeft(await store(me, query)) - seconds) < TOLERANCE, query)
    }
  })
}
