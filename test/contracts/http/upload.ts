/** POST /api/upload: success, representations, the size limit and invalid images. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { gif, png } from '../../support/images/tiny-images.ts'
import { formOf, multipart } from '../../support/multipart.ts'
import { visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const LIMIT = 26_214_400

const picture = () => sharp({ create: { width: 40, height: 30, channels: 3, background: '#7a5' } })

/** By file extension. */
const FORMATS = { jpg: 'jpeg', png: 'png', gif: 'gif', webp: 'webp', avif: 'avif' } as const

export function uploadCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onStrict = visitsTo(world, world.strict)
  const onPaused = visitsTo(world, world.paused)

  for (const [extension, format] of Object.entries(FORMATS)) {
    onMain(`stores ${extension} regardless of its file name and declared type`, async (me) => {
      const bytes = await picture().toFormat(format).toBuffer()
      const form = multipart([
        { name: 'file', filename: `harmless-${extension}.html`, type: 'text/html', body: bytes },
      ])
      const answer = await me.post(form)
      assert.equal(answer.status, 201, answer.text)
      const { id } = answer.json()
      const raw = await me.get(`/raw/${id}`)
      assert.equal(raw.headers.get('Content-Type'), `image/${format}`)
      assert.equal(raw.headers.get('Content-Disposition'), `inline; filename="${id}.${extension}"`)
      assert.deepEqual(raw.body, bytes, 'a file without private metadata is stored byte for byte')
    })
  }

  // The share target is an alias.
  for (const path of ['/api/upload', '/share']) {
    onMain(`returns 201 with a Location and exactly four fields: ${path}`, async (me) => {
      const { body, contentType } = formOf(gif())
      const answer = await me.request('POST', path, { headers: { 'Content-Type': contentType }, body })
      assert.equal(answer.status, 201, answer.text)
      assert.match(answer.headers.get('Content-Type') ?? '', /^application\/json/)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      const upload = answer.json()
      world.keys.add(upload.key)
      assert.deepEqual(Object.keys(upload).sort(), ['delete', 'id', 'key', 'link'])
      assert.match(upload.id, /^[0-9A-Za-z]{11}$/)
      assert.match(upload.key, /^[0-9A-Za-z]{43}$/)
      assert.ok(upload.key.startsWith(upload.id))
      assert.equal(upload.link, `${me.host.baseUrl}/${upload.id}`)
      assert.equal(upload.delete, `${me.host.baseUrl}/api/delete?key=${upload.key}`)
      assert.equal(answer.headers.get('Location'), upload.link)
    })
  }

  onMain('gives the same bytes a new ID and key each time', async (me) => {
    const bytes = gif()
    const uploads = [await me.store(bytes), await me.store(bytes)]
    assert.notEqual(uploads[0]!.id, uploads[1]!.id)
    assert.notEqual(uploads[0]!.key.slice(11), uploads[1]!.key.slice(11))
  })

  const answers: [accept: string | undefined, kind: 'json' | 'plain' | 'html'][] = [
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/*', 'json'],
    ['image/png', 'json'],
    ['text/plain, application/json', 'json'],
    ['text/plain, application/json;q=0.1', 'json'],
    ['text/plain, */*', 'json'],
    ['application/json, text/html;q=0.5', 'json'],
    ['text/plain', 'plain'],
    ['TEXT/Plain; q=0.5', 'plain'],
    ['text/plain, application/json;q=0', 'plain'],
    ['text/html', 'html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', 'html'],
  ]
  for (const [accept, kind] of answers) {
    onMain(`returns ${kind} for Accept: ${accept ?? '(none)'}`, async (me) => {
      const answer = await me.upload(gif(), accept === undefined ? {} : { Accept: accept })
      assert.equal(answer.status, 201, answer.text)
      const link = answer.headers.get('Location')!
      assert.match(link, new RegExp(`^${me.host.baseUrl}/[0-9A-Za-z]{11}$`))
      if (kind === 'json') {
        assert.match(answer.headers.get('Content-Type') ?? '', /^application\/json/)
        assert.equal(answer.json().link, link)
      } else if (kind === 'plain') {
        assert.match(answer.headers.get('Content-Type') ?? '', /^text\/plain/)
        assert.equal(answer.text, `${link}\n`)
      } else {
        checkPage(answer, 201)
        assert.ok(answer.text.includes(link), 'the link')
        const id = link.slice(-11)
        assert.match(answer.text, new RegExp(`/api/delete\\?key=${id}[0-9A-Za-z]{32}\\b`), 'the delete link')
      }
    })
  }

  onMain('returns a refusal as a page to browsers and as problem details to programs', async (me) => {
    checkPage(await me.upload(Buffer.from('no image'), { Accept: 'text/html,*/*;q=0.8' }), 415)
    checkProblem(await me.upload(Buffer.from('no image'), { Accept: 'text/plain' }), 415, 'unsupported-type')
  })

  const digestOf = (algorithm: string, bytes: Uint8Array) =>
    `${algorithm}=:${createHash(algorithm.replace('-', '')).update(bytes).digest('base64')}:`

  onMain('verifies Content-Digest', async (me) => {
    for (const bytes of [gif(), gif({ size: 300_000 })]) {
      const form = formOf(bytes)
      const other = Buffer.from(form.body)
      other[other.length - 100]! ^= 1
      const send = (digest: string) => me.post(form, { 'Content-Digest': digest })
      for (const digest of [
        digestOf('sha-256', form.body),
        digestOf('sha-512', form.body),
        `${digestOf('sha-256', form.body)}, ${digestOf('sha-512', form.body)}`,
        'md5=:AAAA:',
        'unixsum=30637, x=1',
      ]) {
        const answer = await send(digest)
        assert.equal(answer.status, 201, `${digest}: ${answer.text}`)
      }
      for (const digest of [
        digestOf('sha-256', other),
        digestOf('sha-512', other),
        'sha-256=:AAAA:',
        'sha-256=::',
        'sha-256=AAAA',
        `${digestOf('sha-256', form.body)}, sha-512=:AAAA:`,
      ]) {
        checkProblem(await send(digest), 400, 'malformed-multipart')
      }
    }
    assert.equal(await me.remaining(), 90)
  })

  for (const chunked of [false, true]) {
    const how = chunked ? 'chunked' : 'with a Content-Length'
    onMain(`accepts up to 26,214,400 bytes, ${how}`, async (me) => {
      const post = (file: Buffer) => {
        const { body, contentType } = formOf(file)
        const pieces = chunked ? [body.subarray(0, 70_000), body.subarray(70_000)] : body
        return me.request('POST', '/api/upload', { headers: { 'Content-Type': contentType }, body: pieces })
      }
      checkProblem(await post(Buffer.alloc(LIMIT + 1)), 413, 'file-too-large')
      const exact = gif({ size: LIMIT })
      const answer = await post(exact)
      assert.equal(answer.status, 201, answer.text)
      const raw = await me.get(`/raw/${answer.json().id}`)
      assert.ok(raw.body.equals(exact), 'the bytes come back')
      assert.equal((await me.remove(answer.json().key)).status, 200)
      assert.equal(await me.remaining(), 99)
    })

    onStrict(`accepts up to MAX_UPLOAD_BYTES, ${how}`, async (me) => {
      const post = (size: number) => {
        const { body, contentType } = formOf(gif({ size }))
        return me.request('POST', '/api/upload', {
          headers: { 'Content-Type': contentType },
          body: chunked ? [body] : body,
        })
      }
      checkProblem(await post(4001), 413, 'file-too-large')
      assert.equal((await post(4000)).status, 201)
    })
  }

  const invalidFiles: Record<string, Buffer> = {
    text: Buffer.from('hello'),
    'one byte': Buffer.from('G'),
    html: Buffer.from('<!doctype html><script>alert(1)</script>'),
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
    pdf: Buffer.from('%PDF-1.7\n%âãÏÓ\n'),
    bmp: Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
    tiff: Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(60)]),
    'an audio file': Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'),
    'a video': Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2'),
    heic: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'),
    'bytes before a GIF': Buffer.concat([Buffer.from(' '), gif()]),
  }
  for (const [name, bytes] of Object.entries(invalidFiles)) {
    onMain(`returns 415 unsupported-type for ${name}`, async (me) => {
      checkProblem(await me.upload(bytes, { Accept: 'application/json' }), 415, 'unsupported-type')
    })
  }

  for (const format of Object.values(FORMATS)) {
    onMain(`returns 422 damaged-image for a truncated ${format}`, async (me) => {
      const bytes = await picture().toFormat(format).toBuffer()
      for (const length of [bytes.length - 1, bytes.length >> 1, 40]) {
        checkProblem(await me.upload(bytes.subarray(0, length)), 422, 'damaged-image')
      }
    })
  }

  onMain('refuses sides larger than 65,535 pixels and frames larger than 2^28 pixels', async (me) => {
    checkProblem(await me.upload(png(65_536, 1)), 422, 'damaged-image')
    checkProblem(await me.upload(png(1, 65_536)), 422, 'damaged-image')
    checkProblem(await me.upload(png(0, 1)), 422, 'damaged-image')
    // The canvas of a GIF costs nothing, whatever its size.
    const canvas = (width: number, height: number) => gif({ width, height })
    checkProblem(await me.upload(canvas(16_385, 16_384)), 422, 'damaged-image')
    for (const bytes of [png(65_535, 1), png(1, 65_535), canvas(16_384, 16_384)]) {
      assert.equal((await me.upload(bytes)).status, 201)
    }
  })

  onPaused('returns 503 uploads-paused while uploads are paused, without using quota', async (me) => {
    const answer = await me.upload(gif())
    checkProblem(answer, 503, 'uploads-paused')
    assert.equal(answer.headers.get('X-RateLimit-Remaining'), '100')
    checkPage(await me.get('/'), 200)
  })
}
