/** Conditional and range requests of /raw/<id> (RFC 9110, 13 and 14). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { visit, visitsTo, type World } from './host.ts'
import { checkProblem } from './rules.ts'

const SIZE = 1000
const OTHER = `"${'0'.repeat(64)}"`

export function conditionCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  const image = async () => {
    const me = await visit(world, world.main)
    const upload = await me.store(gif({ size: SIZE }))
    return { me, path: `/raw/${upload.id}`, bytes: upload.bytes, etag: `"${sha256Of(upload.bytes)}"` }
  }

  it('returns 304 when If-None-Match matches by weak comparison', async () => {
    const { me, path, etag } = await image()
    const matching = [
      etag,
      `W/${etag}`,
      '*',
      `${OTHER}, ${etag}`,
      `${OTHER},W/${etag} ,"x"`,
      `"a,b", ${etag}`,
    ]
    for (const value of matching) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await me.request(method, path, { headers: { 'If-None-Match': value } })
        assert.equal(status, 304, value)
        assert.equal(headers.get('ETag'), etag)
        assert.equal(headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
        assert.equal(headers.get('CDN-Cache-Control'), 'public, max-age=3600, must-revalidate')
        assert.ok(headers.get('Cache-Tag'))
        assert.ok([null, String(SIZE)].includes(headers.get('Content-Length')))
      }
    }
    // nginx accepts only one such header line.
    if (!me.host.direct) return
    const lines = await me.get(path, { 'If-None-Match': [OTHER, etag] })
    assert.equal(lines.status, 304, 'split over two header lines')
  })

  it('returns 200 when If-None-Match does not match', async () => {
    const { me, path, bytes, etag } = await image()
    const bare = etag.slice(1, -1)
    for (const value of [
      OTHER,
      bare,
      `"${bare.toUpperCase()}"`,
      `"${bare.slice(1)}"`,
      `"${bare} "`,
      '""',
      'W/',
    ]) {
      const answer = await me.get(path, { 'If-None-Match': value })
      assert.equal(answer.status, 200, value)
      assert.deepEqual(answer.body, bytes)
    }
  })

  it('returns 412 when If-Match does not match', async () => {
    const { me, path, etag } = await image()
    for (const value of [OTHER, `W/${etag}`]) {
      const answer = await me.get(path, { 'If-Match': value })
      assert.equal(answer.status, 412, value)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      assert.equal((await me.request('HEAD', path, { headers: { 'If-Match': value } })).status, 412)
    }
    for (const value of [etag, '*', `${OTHER}, ${etag}`]) {
      assert.equal((await me.get(path, { 'If-Match': value })).status, 200, value)
    }
  })

  it('evaluates If-None-Match before Range', async () => {
    const { me, path, etag } = await image()
    assert.equal((await me.get(path, { 'If-None-Match': etag, Range: 'bytes=0-9' })).status, 304)
    assert.equal((await me.get(path, { 'If-None-Match': etag, Range: 'bytes=5000-' })).status, 304)
    assert.equal((await me.get(path, { 'If-None-Match': OTHER, Range: 'bytes=0-9' })).status, 206)
  })

  const satisfiable: [range: string, first: number, last: number][] = [
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, 999],
    ['bytes=5-9', 5, 9],
    ['bytes=999-', 999, 999],
    ['bytes=999-999', 999, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-10', 990, 999],
    ['bytes=-1000', 0, 999],
    ['bytes=-99999', 0, 999],
    ['bytes=990-99999', 990, 999],
    ['bytes=0-99999999999999999999999999', 0, 999],
    ['bytes=-99999999999999999999999999', 0, 999],
    ['bytes=007-009', 7, 9],
    // Range units are case-insensitive (RFC 9110, 14.1).
    ['BYTES=0-1', 0, 1],
  ]
  it('returns 206 for a range within the image', async () => {
    const { me, path, bytes, etag } = await image()
    const whole = await me.get(path)
    for (const [range, first, last] of satisfiable) {
      const part = await me.get(path, { Range: range })
      assert.equal(part.status, 206, range)
      assert.equal(part.headers.get('Content-Range'), `bytes ${first}-${last}/${SIZE}`)
      assert.equal(part.headers.get('Content-Length'), String(last - first + 1))
      assert.deepEqual(part.body, bytes.subarray(first, last + 1))
      assert.equal(part.headers.get('ETag'), etag)
      for (const [name, value] of whole.headers) {
        // Repr-Digest covers the whole representation, even in a 206 response (RFC 9530, 3).
        if (!['content-length', 'date', 'x-request-id'].includes(name)) {
          assert.equal(part.headers.get(name), value, `${range}: ${name}`)
        }
      }
    }
  })

  it('returns 416 for a range behind the image', async () => {
    const { me, path } = await image()
    for (const range of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=99999999999999999999999-']) {
      const answer = await me.get(path, { Range: range })
      checkProblem(answer, 416, 'range-not-satisfiable')
      assert.equal(answer.headers.get('Content-Range'), `bytes */${SIZE}`, range)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  })

  const ignored = ['bytes=0-1,3-4', 'bytes=0-1, 0-1', 'bytes=5-4', 'bytes=a-b', 'bytes=', 'bytes=-', 'bytes']
  ignored.push('items=0-1', 'bytes=0-1-2', 'bytes=+0-1', 'bytes=0x0-1', 'bytes=1.5-2', 'bytes=--1', '0-1', '')
  it('returns the whole image for several ranges, and for anything that is not a range', async () => {
    const { me, path, bytes } = await image()
    for (const range of ignored) {
      const answer = await me.get(path, { Range: range })
      assert.equal(answer.status, 200, range)
      assert.deepEqual(answer.body, bytes)
      assert.equal(answer.headers.get('Content-Range'), null)
    }
  })

  it('returns a range only if If-Range is the strong ETag', async () => {
    const { me, path, bytes, etag } = await image()
    const part = await me.get(path, { Range: 'bytes=1-2', 'If-Range': etag })
    assert.equal(part.status, 206)
    assert.deepEqual(part.body, bytes.subarray(1, 3))
    for (const value of [OTHER, `W/${etag}`, 'Thu, 01 Jan 2099 00:00:00 GMT', 'nonsense', '*']) {
      const answer = await me.get(path, { Range: 'bytes=1-2', 'If-Range': value })
      assert.equal(answer.status, 200, value)
      assert.deepEqual(answer.body, bytes)
      const past = await me.get(path, { Range: 'bytes=5000-', 'If-Range': value })
      assert.equal(past.status, 200, `${value}, past the end`)
    }
    assert.equal((await me.get(path, { 'If-Range': etag })).status, 200, 'without a range')
  })

  it('ignores Range on HEAD (RFC 9110, 14.2)', async () => {
    const { me, path } = await image()
    for (const range of ['bytes=0-9', 'bytes=5000-']) {
      const { status, headers } = await me.request('HEAD', path, { headers: { Range: range } })
      assert.equal(status, 200)
      assert.equal(headers.get('Content-Length'), String(SIZE))
      assert.equal(headers.get('Content-Range'), null)
    }
  })

  it('supports ranges for downloads and for the URL with the extension', async () => {
    const { me, path, bytes } = await image()
    for (const address of [`${path}?dl=1`, `${path}.gif`]) {
      const part = await me.get(address, { Range: 'bytes=-3' })
      assert.equal(part.status, 206)
      assert.deepEqual(part.body, bytes.subarray(-3))
    }
  })

  onMain('reassembles a large image from overlapping ranges', async (me) => {
    const { id, bytes } = await me.store(gif({ size: 3_000_000 }))
    // As Signal requests images: each range overlaps the previous one.
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; at += 700_001) {
      const first = Math.max(0, at - 500)
      const part = await me.get(`/raw/${id}`, { Range: `bytes=${first}-${at + 700_000}` })
      assert.equal(part.status, 206)
      pieces.push(part.body.subarray(at - first))
    }
    assert.ok(Buffer.concat(pieces).equals(bytes))
    assert.ok((await me.get(`/raw/${id}`)).body.equals(bytes))
  })

  onMain('survives a client that disconnects midway', async (me) => {
    const { id, bytes } = await me.store(gif({ size: 5_000_000 }))
    for (let i = 0; i < 10; i++) {
      const answer = await fetch(`${me.host.url}/raw/${id}`, { headers: { Connection: 'close' } })
      const reader = answer.body!.getReader()
      await reader.read()
      await reader.cancel()
    }
    assert.ok((await me.get(`/raw/${id}`)).body.equals(bytes))
  })
}
