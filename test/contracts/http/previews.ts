/** Previews: uploaded in one file behind the image, served under their own URL. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { request } from '../../support/http.ts'
import { framed, previewed } from '../../support/images/previewed.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { idempotentUploads, needsOperator, RESIZER, visitsTo, type World } from './host.ts'
import { operate } from './operator.ts'
import { checkProblem } from './rules.ts'

export function previewCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const operated = visitsTo(world, world.main, needsOperator)
  const onFleeting = visitsTo(world, world.fleeting)
  const onStrict = visitsTo(world, world.strict)

  onMain('stores the preview separately from images of every type', async (me) => {
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      const { image, preview, file } = await previewed(format)
      const { id } = await me.store(file)
      const raw = await me.get(`/raw/${id}`)
      assert.deepEqual(raw.body, image, format)
      assert.equal(raw.headers.get('ETag'), `"${sha256Of(image)}"`)
      assert.equal(raw.headers.get('Content-Type'), `image/${format}`)
      for (let reads = 0; reads < 2; reads++) {
        const { status, headers, body } = await me.get(`/preview/${id}`)
        assert.equal(status, 200)
        assert.deepEqual(body, preview, format)
        assert.equal(headers.get('ETag'), `"${sha256Of(preview)}"`)
        assert.equal(
          headers.get('Repr-Digest'),
          `sha-256=:${Buffer.from(sha256Of(preview), 'hex').toString('base64')}:`,
        )
        assert.equal(headers.get('Content-Type'), 'image/jpeg')
        assert.equal(headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
        assert.equal(headers.get('Content-Security-Policy'), "default-src 'none'; sandbox")
        assert.equal(headers.get('CDN-Cache-Control'), 'public, max-age=3600, must-revalidate')
        assert.equal(headers.get('Cache-Tag'), raw.headers.get('Cache-Tag'))
      }
    }
  })

  onMain('supports HEAD, conditional and range requests for previews', async (me) => {
    const { preview, file } = await previewed()
    const { id } = await me.store(file)
    const path = `/preview/${id}`
    const etag = `"${sha256Of(preview)}"`
    const head = await me.request('HEAD', path)
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('ETag'), etag)
    assert.equal((await me.get(path, { 'If-None-Match': etag })).status, 304)
    assert.equal((await me.request('HEAD', path, { headers: { 'If-None-Match': etag } })).status, 304)
    assert.equal((await me.request('HEAD', `${path}?x=1`)).status, 308)
    assert.equal((await me.get(path, { 'If-None-Match': '"another"' })).status, 200)
    checkProblem(await me.get(path, { 'If-Match': '"another"' }), 412, 'precondition-failed')
    assert.equal((await me.request('HEAD', path, { headers: { 'If-Match': '"another"' } })).status, 412)
    const part = await me.get(path, { Range: 'bytes=10-19' })
    assert.equal(part.status, 206)
    assert.deepEqual(part.body, preview.subarray(10, 20))
    assert.equal(part.headers.get('Content-Range'), `bytes 10-19/${preview.length}`)
    const end = await me.get(path, { Range: 'bytes=-5' })
    assert.deepEqual(end.body, preview.subarray(-5))
    const past = await me.get(path, { Range: `bytes=${preview.length}-` })
    checkProblem(past, 416, 'range-not-satisfiable')
    assert.equal(past.headers.get('Content-Range'), `bytes */${preview.length}`)
    const query = await me.get(`${path}?x=1`)
    assert.equal(query.status, 308)
    assert.equal(query.headers.get('Location'), `${me.host.baseUrl}${path}`)
  })

  onMain('redirects to the image when it has no preview', async (me) => {
    const animated = await previewed('gif')
    for (const bytes of [gif(), animated.file]) {
      const { id } = await me.store(bytes)
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await me.request(method, `/preview/${id}`)
        assert.equal(status, 307)
        assert.equal(headers.get('Location'), `/raw/${id}`)
        assert.equal(headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
        assert.equal(headers.get('CDN-Cache-Control'), 'public, max-age=3600, must-revalidate')
        assert.match(headers.get('Cache-Tag') ?? '', new RegExp(id))
      }
      assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes, 'GIF is stored byte for byte')
    }
  })

  onMain('returns 404 for previews of unknown and deleted images', async (me) => {
    const { file } = await previewed()
    const { id, key } = await me.store(file)
    assert.equal((await me.get(`/preview/${id}`)).status, 200)
    assert.equal((await me.remove(key)).status, 200)
    for (const path of [`/preview/${id}`, '/preview/AAAAAAAAAAA', `/preview/${id}.jpg`, '/preview/x']) {
      checkProblem(await me.get(path), 404, 'not-found')
      assert.equal((await me.request('HEAD', path)).status, 404)
    }
  })

  operated('holds, releases, removes and blocks the preview with its image', async (me) => {
    const { image, preview, file } = await previewed()
    const { id } = await me.store(file)
    await operate(me.host, ['hold', id, '--reason', 'a report'])
    checkProblem(await me.get(`/preview/${id}`), 403, 'held')
    assert.equal((await me.request('HEAD', `/preview/${id}`)).status, 403)
    await operate(me.host, ['release', id, '--reason', 'nothing in it'])
    assert.deepEqual((await me.get(`/preview/${id}`)).body, preview)
    await operate(me.host, ['remove', id, '--reason', 'against the rules', '--block'])
    checkProblem(await me.get(`/preview/${id}`), 410, 'removed')
    assert.equal((await me.request('HEAD', `/preview/${id}`)).status, 410)
    const other = await previewed()
    for (const bytes of [file, image, preview, framed(other.image, preview)]) {
      checkProblem(await me.upload(bytes), 403, 'blocked-image')
    }
    assert.equal((await me.upload(other.file)).status, 201)
  })

  onMain('removes private metadata from the preview', async (me) => {
    const { image, preview } = await previewed()
    const secret = await sharp(preview)
      .withExif({ IFD0: { Artist: 'SECRET of mine', Copyright: 'SECRET too' } })
      .jpeg()
      .toBuffer()
    assert.ok(secret.includes('SECRET'))
    const { id } = await me.store(framed(image, Buffer.concat([secret, Buffer.from('SECRET behind')])))
    const { status, body } = await me.get(`/preview/${id}`)
    assert.equal(status, 200)
    assert.ok(!body.includes('SECRET'))
    assert.equal((await sharp(body).metadata()).width, 80)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, image)
  })

  onFleeting(
    'redirects to the resizer if there is one, but never for hidden or deleted images',
    async (me, t) => {
      const { baseUrl } = me.host
      const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
      const large = await sharp({
        create: { width: 800, height: 1600, channels: 3, background: '#000', noise },
      })
        .jpeg({ quality: 95 })
        .toBuffer()
      const { id, key } = await me.store(large)
      const resized = RESIZER.replace('{url}', `${baseUrl}/raw/${id}.jpg`)
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await me.request(method, `/preview/${id}`)
        assert.equal(status, 307)
        assert.equal(headers.get('Location'), resized)
        assert.match(
          headers.get('Cache-Control') ?? '',
          /max-age=(\d{1,3}|1\d{3}),/,
          'at most half of its hour',
        )
      }
      const page = await me.get(`/${id}`)
      const meta = (name: string) => page.text.match(`<meta property="${name}" content="([^"]*)">`)?.[1]
      assert.equal(meta('og:image'), resized)
      assert.deepEqual([meta('og:image:width'), meta('og:image:height')], ['600', '1200'])
      assert.equal(meta('og:image:type'), undefined, 'the resizer chooses the type')
      assert.match(page.text, new RegExp(`src="/preview/${id}"`))
      const { thumbnail_url, thumbnail_width } = JSON.parse(
        (await me.get(`/oembed?url=${encodeURIComponent(`${baseUrl}/${id}`)}`)).text,
      )
      assert.deepEqual([thumbnail_url, thumbnail_width], [resized, 600])
      const deletion = await me.get(`/api/delete?key=${key}`, { Accept: 'text/html' })
      const policies = [page, await request(me.host.url, 'GET', '/g'), deletion]
      for (const { headers } of policies)
        assert.match(headers.get('Content-Security-Policy') ?? '', /img-src [^;]* https:\/\/img\.example;/)
      const small = await previewed()
      const shown = await me.store(small.file)
      assert.deepEqual((await me.get(`/preview/${shown.id}`)).body, small.preview)
      const animated = await me.store(gif())
      assert.equal((await me.get(`/preview/${animated.id}`)).headers.get('Location'), `/raw/${animated.id}`)
      await me.remove(key)
      const gone = await me.get(`/preview/${id}`)
      checkProblem(gone, 404, 'not-found')
      assert.equal(gone.headers.get('Location'), null)
      if (!me.host.operator) return t.diagnostic('this host has no operator command')
      const held = await me.store(await sharp(large).flop().jpeg({ quality: 95 }).toBuffer())
      await operate(me.host, ['hold', held.id, '--reason', 'a report'])
      for (const path of [`/preview/${held.id}`, `/${held.id}`]) {
        const answer = await me.get(path)
        assert.equal(answer.status, 403)
        assert.ok(!answer.text.includes('img.example'))
      }
    },
  )

  onStrict('keeps image and preview unchanged with STRIP_METADATA=off', async (me) => {
    const pixels = { create: { width: 40, height: 30, channels: 3, background: '#369' } } as const
    const image = await sharp(pixels).png().toBuffer()
    const preview = Buffer.concat([await sharp(pixels).resize(20).jpeg().toBuffer(), Buffer.from('kept')])
    const { id } = await me.store(framed(image, preview))
    assert.deepEqual((await me.get(`/preview/${id}`)).body, preview)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, image)
  })

  onMain('refuses an invalid preview', async (me) => {
    const { image, preview } = await previewed()
    const other = await previewed()
    const large = { create: { width: 1204, height: 903, channels: 3, background: '#fff' } } as const
    const bad: Record<string, Uint8Array> = {
      'not an image': Buffer.from('<script>alert(1)</script>'),
      'of another type': await sharp(preview).png().toBuffer(),
      damaged: preview.subarray(0, preview.length - 20),
      'of another ratio': await sharp(preview).resize(80, 50, { fit: 'fill' }).toBuffer(),
      'turned by its metadata': await sharp(preview).withMetadata({ orientation: 6 }).toBuffer(),
      'too wide': await sharp(large).jpeg().toBuffer(),
      'too long': Buffer.concat([preview, Buffer.alloc(122_881 - preview.length)]),
      animated: await sharp([preview, other.preview], { join: { animated: true } })
        .webp()
        .toBuffer(),
    }
    for (const [name, bytes] of Object.entries(bad)) {
      const answer = await me.upload(framed(image, bytes))
      assert.equal(answer.status, 422, `${name}: ${answer.text}`)
      checkProblem(answer, 422, 'damaged-image')
      assert.match(answer.json().detail, /preview/, name)
    }
    assert.equal(await me.remaining(), 100)
  })

  onMain('drops a damaged preview frame like any other data behind the image', async (me) => {
    const { image, preview, file } = await previewed()
    const changed = (at: number) => {
      const bytes = Buffer.from(file)
      bytes[at]! ^= 1
      return bytes
    }
    const frameAt = image.length
    for (const bytes of [
      changed(file.length - 1),
      changed(file.length - 12),
      changed(file.length - 9),
      changed(frameAt),
      changed(frameAt + 3),
      changed(frameAt + 4),
      Buffer.concat([file, Buffer.from('more')]),
      framed(image, new Uint8Array()),
    ]) {
      const { id } = await me.store(bytes)
      assert.equal((await me.get(`/preview/${id}`)).status, 307)
      assert.deepEqual((await me.get(`/raw/${id}`)).body, image)
    }
    const headless = await me.upload(file.subarray(frameAt))
    checkProblem(headless, 415, 'unsupported-type')
    const twice = await me.store(framed(file, preview))
    assert.deepEqual((await me.get(`/raw/${twice.id}`)).body, image)
    assert.deepEqual((await me.get(`/preview/${twice.id}`)).body, preview)
  })

  onMain('answers retries of an upload with a preview', async (me) => {
    const { image, preview, file } = await previewed()
    const { newIdempotencyKey, send } = idempotentUploads(world)
    const key = newIdempotencyKey()
    const first = await send(me, file, key)
    assert.equal(first.status, 201, first.text)
    assert.equal((await me.upload(file, { 'Idempotency-Key': key })).text, first.text)
    checkProblem(await me.upload(image, { 'Idempotency-Key': key }), 422, 'idempotency-key-reused')
    assert.deepEqual((await me.get(`/preview/${first.json().id}`)).body, preview)
  })

  onMain('serves a large image with a preview, and ranges of the image', async (me) => {
    const { preview } = await previewed()
    const noise = crypto.getRandomValues(new Uint8Array(60_000))
    const tile = await sharp(noise, { raw: { width: 200, height: 100, channels: 3 } })
      .png()
      .toBuffer()
    const image = await sharp(tile).resize(1000, 750, { kernel: 'nearest' }).jpeg({ quality: 100 }).toBuffer()
    assert.ok(image.length > 300_000)
    const { id } = await me.store(framed(image, preview))
    for (let reads = 0; reads < 2; reads++) {
      assert.deepEqual((await me.get(`/raw/${id}`)).body, image)
      assert.deepEqual((await me.get(`/preview/${id}`)).body, preview)
      for (const [range, part] of [
        ['bytes=-10', image.subarray(-10)],
        ['bytes=299990-', image.subarray(299_990)],
      ] as const) {
        const answer = await me.get(`/raw/${id}`, { Range: range })
        assert.equal(answer.status, 206)
        assert.deepEqual(answer.body, part, range)
      }
    }
  })

  onMain('limits cache lifetimes to the remaining time of an image that expires', async (me) => {
    const { image, file } = await previewed()
    for (const [bytes, status] of [
      [file, 200],
      [image, 307],
    ] as const) {
      const answer = await me.upload(bytes, {}, '?expires=600')
      assert.equal(answer.status, 201, answer.text)
      const preview = await me.get(`/preview/${answer.json().id}`)
      assert.equal(preview.status, status)
      const lifetimes = /^public, max-age=(\d+), s-maxage=(\d+), must-revalidate, immutable$/
      const [, browser, shared] = lifetimes.exec(preview.headers.get('Cache-Control') ?? '') ?? []
      assert.ok(Number(browser) + Number(shared) <= 600, `${preview.headers.get('Cache-Control')}`)
      assert.equal(preview.headers.get('CDN-Cache-Control'), `public, max-age=${shared}, must-revalidate`)
    }
  })

  onMain('names the preview in Open Graph metadata and oEmbed', async (me) => {
    const { file } = await previewed('png')
    const { id, link } = await me.store(file)
    const { text } = await me.get(`/${id}`)
    const address = `${me.host.baseUrl}/preview/${id}`
    for (const [name, value] of [
      ['og:image', address],
      ['og:image:type', 'image/jpeg'],
      ['og:image:width', '80'],
      ['og:image:height', '60'],
    ]) {
      assert.ok(text.includes(`<meta property="${name}" content="${value}">`), name)
    }
    assert.ok(text.includes(`<meta name="twitter:image" content="${address}">`))
    const embed = (await me.get(`/oembed?url=${encodeURIComponent(link)}`)).json()
    const { thumbnail_url, thumbnail_width, thumbnail_height } = embed
    assert.deepEqual([thumbnail_url, thumbnail_width, thumbnail_height], [address, 80, 60])
    assert.match(embed.url, new RegExp(`/raw/${id}`))
    for (const [query, hasThumbnail] of [
      ['&maxwidth=80&maxheight=60', true],
      ['&maxwidth=79', false],
      ['&maxheight=59', false],
    ] as const) {
      const limited = (await me.get(`/oembed?url=${encodeURIComponent(link)}${query}`)).json()
      assert.equal('thumbnail_url' in limited, hasThumbnail, query)
      assert.equal('thumbnail_width' in limited, hasThumbnail, query)
    }
  })
}
