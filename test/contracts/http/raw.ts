/** GET /raw/<id>: content, headers, alternative URLs and deletion. */
import assert from 'node:assert/strict'
import { png } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { isRefusedInFront, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

export function rawCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain(
    'sends the SHA-256 of the whole image in Repr-Digest, whatever Want-Repr-Digest requests',
    async (me) => {
      const { id, bytes } = await me.store()
      const whole = `sha-256=:${Buffer.from(sha256Of(bytes), 'hex').toString('base64')}:`
      for (const wanted of ['sha-256=10', 'sha-512=10, sha-256=1', 'sha-256=0', 'md5=1', 'nonsense']) {
        const headers = { 'Want-Repr-Digest': wanted }
        assert.equal((await me.get(`/raw/${id}`, headers)).headers.get('Repr-Digest'), whole)
        const part = await me.get(`/raw/${id}`, { ...headers, Range: 'bytes=0-3' })
        assert.equal(part.status, 206)
        assert.equal(part.headers.get('Repr-Digest'), whole)
      }
    },
  )

  onMain('returns the image with every documented header', async (me) => {
    const { id, bytes } = await me.store()
    const { status, headers, body } = await me.get(`/raw/${id}`)
    assert.equal(status, 200)
    assert.deepEqual(body, bytes)
    const expected = {
      'Content-Type': 'image/gif',
      'Content-Length': String(bytes.length),
      'Cache-Control': 'public, max-age=31536000, immutable',
      ETag: `"${sha256Of(bytes)}"`,
      'Repr-Digest': `sha-256=:${Buffer.from(sha256Of(bytes), 'hex').toString('base64')}:`,
      'Accept-Ranges': 'bytes',
      'Content-Disposition': `inline; filename="${id}.gif"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Access-Control-Allow-Origin': '*',
      'X-Robots-Tag': 'noindex',
      'CDN-Cache-Control': 'public, max-age=3600, must-revalidate',
      'Transfer-Encoding': null,
      'Content-Encoding': null,
      'Content-Range': null,
      // The headers do not vary, and some caches store a copy per value.
      Vary: null,
    }
    for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name)
    assert.match(headers.get('Cache-Tag') ?? '', new RegExp(id))
  })

  onMain(
    'returns a 404 page to browsers that open the URL, and problem details to all others',
    async (me) => {
      const opened = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' }
      const shown = { Accept: 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5' }
      const pageOf = async (path: string, language: string) => {
        const answer = await me.get(path, { ...opened, 'Accept-Language': language })
        checkPage(answer, 404)
        assert.equal(answer.headers.get('Cache-Control'), 'no-store')
        assert.match(answer.headers.get('Vary') ?? '', /\bAccept\b(?!-)/)
        return answer
      }
      for (const path of [
        '/raw/AAAAAAAAAAA',
        '/raw/AAAAAAAAAAA.png',
        '/raw/AAAAAAAAAAA?dl=1',
        '/preview/AAAAAAAAAAA',
      ]) {
        const page = await pageOf(path, 'en')
        assert.match(page.text, /There’s no picture at this link/)
        assert.match((await pageOf(path, 'de')).text, /Unter diesem Link gibt es kein Bild/)
        const head = await me.request('HEAD', path, { headers: { ...opened, 'Accept-Language': 'en' } })
        assert.equal(head.status, 404)
        assert.match(head.headers.get('Content-Type') ?? '', /^text\/html/)
        assert.equal(head.body.length, 0)
        for (const headers of [
          {},
          shown,
          { Accept: '*/*' },
          { Accept: 'application/json, text/html;q=0.5' },
        ]) {
          const answer = await me.get(path, headers)
          checkProblem(answer, 404, 'not-found')
          assert.equal(answer.headers.get('Cache-Control'), 'no-store')
          assert.match(answer.headers.get('Vary') ?? '', /\bAccept\b(?!-)/)
        }
      }
      const { id } = await me.store()
      for (const headers of [opened, shown]) {
        assert.equal((await me.get(`/raw/${id}`, headers)).headers.get('Content-Type'), 'image/gif')
        checkProblem(
          await me.get(`/raw/${id}`, { ...headers, 'If-Match': '"other"' }),
          412,
          'precondition-failed',
        )
      }
    },
  )

  onMain('serves dl=1 as a download of the same bytes', async (me) => {
    const { id, bytes } = await me.store()
    const plain = await me.get(`/raw/${id}`)
    for (const path of [`/raw/${id}?dl=1`, `/raw/${id}.gif?dl=1`]) {
      const { status, headers, body } = await me.get(path)
      assert.equal(status, 200)
      assert.deepEqual(body, bytes)
      assert.equal(headers.get('Content-Disposition'), `attachment; filename="${id}.gif"`)
      for (const name of ['Content-Type', 'Cache-Control', 'ETag', 'Cache-Tag', 'Content-Security-Policy']) {
        assert.equal(headers.get(name), plain.headers.get(name), name)
      }
    }
  })

  onMain('serves the image under its own extension, and 404 under any other', async (me) => {
    const { id, bytes } = await me.store()
    const alias = await me.get(`/raw/${id}.gif`)
    assert.equal(alias.status, 200)
    assert.deepEqual(alias.body, bytes)
    assert.equal(alias.headers.get('ETag'), `"${sha256Of(bytes)}"`)
    assert.equal(alias.headers.get('Content-Disposition'), `inline; filename="${id}.gif"`)
    const picture = await me.store(png(9, 5))
    const past = { Range: 'bytes=9999999-' }
    checkProblem(await me.get(`/raw/${picture.id}.gif`, past), 404, 'not-found')
    assert.equal((await me.get(`/raw/${picture.id}.png`)).status, 200)
    const wrong = '.png .jpg .webp .avif .GIF .Gif .giff .gif.gif . .html .svg'.split(' ')
    for (const suffix of wrong) {
      const answer = await me.get(`/raw/${id}${suffix}`)
      checkProblem(answer, 404, 'not-found')
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  })

  onMain('redirects any other query to the canonical URL', async (me) => {
    const { id } = await me.store()
    const queries =
      'x=1 dl dl= dl=0 dl=2 dl=01 dl=1%20 DL=1 dl=1&dl=1 dl=1&dl=2 dl=1&x=2 x=2&dl=1 dl=1& &dl=1 %64l=1 dl=%31 = % & dl=1='
    for (const path of [`/raw/${id}`, `/raw/${id}.gif`]) {
      for (const query of queries.split(' ')) {
        const address = `${path}?${query}`
        const { status, headers } = await me.get(address, { 'X-Forwarded-Host': 'evil.example' })
        assert.equal(status, 308, address)
        assert.equal(headers.get('Cache-Control'), 'no-store')
        assert.equal(headers.get('Access-Control-Allow-Origin'), '*')
        assert.equal(headers.get('Cross-Origin-Resource-Policy'), 'cross-origin')
        assert.equal(headers.get('ETag'), null)
        const to = new URL(headers.get('Location')!, me.host.baseUrl)
        assert.equal(to.origin, new URL(me.host.baseUrl).origin, address)
        assert.ok([`/raw/${id}`, path].includes(to.pathname), `${address} → ${to}`)
        // dl=1 may be preserved.
        assert.ok(
          to.search === '' || (to.search === '?dl=1' && /(dl|%64l)=(1|%31)/.test(query)),
          `${address} → ${to}`,
        )
        assert.equal((await me.request('HEAD', address)).status, 308)
        const followed = await me.get(to.pathname + to.search)
        assert.equal(followed.status, 200, `${address} → ${to}`)
      }
    }
  })

  onMain('returns 404 for any other ID', async (me) => {
    const { id, key } = await me.store()
    const flipped = id.replace(/[a-z]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const unknown = ['', 'AAAAAAAAAAA', id.slice(1), `${id}a`, `${id.slice(0, 10)}-`, key, 'index.html']
    unknown.push('..%2f..%2fetc%2fpasswd', '%00', `${id}%00`, `${id}%20`, '%', '%E0%A4%A', 'x'.repeat(4000))
    if (flipped !== id) unknown.push(flipped)
    for (const stranger of unknown) {
      if (isRefusedInFront(me.host, { path: stranger })) continue
      const answer = await me.get(`/raw/${stranger}`)
      checkProblem(answer, 404, 'not-found')
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  })

  onMain('returns 404 after deletion for any kind of request', async (me) => {
    const image = await me.store()
    // Warms up the memory cache.
    for (let i = 0; i < 3; i++) assert.equal((await me.get(`/raw/${image.id}`)).status, 200)
    assert.equal((await me.remove(image.key)).status, 200)
    await me.checkHidden(image, 404, 'not-found')
  })

  onMain('does not distinguish deleted from unknown images', async (me) => {
    const { id, key } = await me.store()
    await me.remove(key)
    const never = [...id].reverse().join('')
    const [deleted, unknown] = [await me.get(`/raw/${id}`), await me.get(`/raw/${never}`)]
    assert.equal(deleted.text.replaceAll(id, ''), unknown.text.replaceAll(never, ''))
    assert.deepEqual(stableHeaders(deleted.headers), stableHeaders(unknown.headers))
  })
}

/** Headers without those that differ from response to response. */
export function stableHeaders(headers: Headers): Record<string, string> {
  const { date, 'x-request-id': _, connection, 'keep-alive': __, ...rest } = Object.fromEntries(headers)
  return rest
}
