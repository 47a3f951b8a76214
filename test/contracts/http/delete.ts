/** DELETE /api/delete?key=<key> and its confirmation page. */
import assert from 'node:assert/strict'
import { gif } from '../../support/images/tiny-images.ts'
import { type Visitor, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

/** A well-formed key of no image. */
const UNKNOWN = 'A'.repeat(43)

export function deleteCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain('deletes an image by its key, permanently', async (me) => {
    const { id, key, delete: address } = await me.store()
    const { pathname, search } = new URL(address)
    const answer = await me.request('DELETE', pathname + search)
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('Content-Type') ?? '', /^application\/json/)
    assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    assert.deepEqual(answer.json(), { success: true })
    assert.equal((await me.get(`/raw/${id}`)).status, 404)
    assert.equal((await me.get(`/${id}`)).status, 404)
    checkRefused(await me.remove(key), 404, 'unknown-key')
  })

  onMain('returns 400 missing-key without a key', async (me) => {
    for (const query of ['', '?', '?key', '?key=', '?KEY=x', '?id=x']) {
      checkRefused(await me.request('DELETE', `/api/delete${query}`), 400, 'missing-key')
    }
  })

  onMain('returns 404 unknown-key for a wrong key and keeps the image', async (me) => {
    const { id, key, bytes } = await me.store()
    const other = await me.store()
    const last = key.at(-1) === 'a' ? 'b' : 'a'
    const wrong = [UNKNOWN, id, `${id}${UNKNOWN.slice(11)}`, key.slice(0, -1), `${key}x`, 'x'.repeat(4000)]
    wrong.push(key.slice(0, -1) + last, key.toLowerCase(), id + other.key.slice(11), other.id + key.slice(11))
    wrong.push(`${key}%00`, `${key}%0a`, `%20${key}`, `${key},${key}`)
    wrong.push(..."x % %FF '-- ../../etc/passwd ..%2f..%2f %00".split(' '))
    for (const guess of wrong.filter((guess) => guess !== key)) {
      checkRefused(await me.remove(guess), 404, 'unknown-key')
    }
    for (const stays of [id, other.id]) assert.equal((await me.get(`/raw/${stays}`)).status, 200)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes)
  })

  onMain('handles concurrent deletions of the same image', async (me) => {
    const { id, key } = await me.store()
    const answers = await Promise.all(Array.from({ length: 20 }, () => me.remove(key)))
    const done = answers.filter(({ status }) => status === 200)
    assert.ok(done.length >= 1)
    for (const answer of answers) if (answer.status !== 200) checkRefused(answer, 404, 'unknown-key')
    assert.equal((await me.get(`/raw/${id}`)).status, 404)
  })

  onMain('never deletes on GET or HEAD, and shows a confirmation page on GET', async (me) => {
    const { id, key } = await me.store()
    const path = `/api/delete?key=${key}`
    const page = await me.get(path, { Accept: 'text/html' })
    checkPage(page, 200)
    assert.match(page.text, /<button/)
    checkPage(await me.get(path), 200)
    assert.equal((await me.request('HEAD', path)).status, 200)
    for (const method of ['POST', 'PUT', 'PATCH', 'OPTIONS']) await me.request(method, path)
    await me.request('GET', path, { headers: { 'X-HTTP-Method-Override': 'DELETE' } })
    await me.request('POST', path, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: Buffer.from('_method=DELETE'),
    })
    assert.equal((await me.get(`/raw/${id}`)).status, 200, 'still there')
  })

  onMain('shows a page for any deletion URL that is opened', async (me) => {
    for (const query of ['', '?key=', `?key=${UNKNOWN}`, '?key="><script>alert(1)</script>', '?key=%']) {
      const page = await me.get(`/api/delete${query}`, { Accept: 'text/html' })
      assert.ok(page.status < 500)
      checkPage(page, page.status)
      assert.ok(!page.text.includes('<script>alert'))
    }
  })

  onMain('does not truncate concurrent downloads of the deleted image', async (me) => {
    const upload = await me.store(gif({ size: 2_000_000 }))
    const readers = Array.from({ length: 10 }, () => readWhole(me, upload.id))
    const [deleted, ...read] = await Promise.all([me.remove(upload.key), ...readers])
    assert.equal(deleted.status, 200)
    for (const body of read) assert.ok(body === null || body.equals(upload.bytes))
    assert.equal(await readWhole(me, upload.id), null)
  })
}

function checkRefused(answer: Awaited<ReturnType<Visitor['get']>>, status: number, error: string): void {
  checkProblem(answer, status, error)
  assert.equal(answer.json().success, false)
}

/** `null` for 404. A body that ends early rejects. */
async function readWhole(me: Visitor, id: string): Promise<Buffer | null> {
  const answer = await me.get(`/raw/${id}`)
  if (answer.status === 404) return null
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('Content-Length'), String(answer.body.length))
  return answer.body
}
