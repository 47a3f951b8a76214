/** Idempotency-Key: retries of an upload never store an image twice. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import sharp from 'sharp'
import type { Answer } from '../../support/http.ts'
import { gif, png } from '../../support/images/tiny-images.ts'
import { idempotentUploads, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const picture = () => sharp({ create: { width: 9, height: 6, channels: 3, background: '#a75' } })

const remainingOf = (answer: Answer) => Number(answer.headers.get('X-RateLimit-Remaining'))

export function idempotencyCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onStrict = visitsTo(world, world.strict)

  const { newIdempotencyKey, send } = idempotentUploads(world)

  const images: [what: string, make: () => Buffer | Promise<Buffer>][] = [
    ['a small image', () => gif()],
    ['an image of 2 MB', () => gif({ size: 2_000_000 })],
    [
      'an image that loses metadata',
      () =>
        picture()
          .withExif({ IFD0: { Artist: 'somebody' } })
          .jpeg()
          .toBuffer(),
    ],
  ]
  for (const [what, make] of images) {
    onMain(`returns the same response for retries of ${what} and counts it once`, async (me) => {
      const bytes = await make()
      const idempotencyKey = newIdempotencyKey()
      const first = await send(me, bytes, idempotencyKey)
      assert.equal(first.status, 201, first.text)
      for (let i = 2; i <= 4; i++) {
        const again = await send(me, bytes, idempotencyKey)
        assert.equal(again.status, 201, again.text)
        assert.equal(again.text, first.text)
        assert.equal(again.headers.get('Location'), first.headers.get('Location'))
        assert.equal(remainingOf(again), 99)
      }
      const { id, key } = first.json()
      assert.match(key, /^[0-9A-Za-z]{43}$/)
      assert.equal((await me.get(`/raw/${id}`)).status, 200)
      assert.equal((await me.remove(key)).status, 200)
      assert.equal((await me.get(`/raw/${id}`)).status, 404)
      assert.equal(await me.remaining(), 99)
    })
  }

  it('stores and counts concurrent retries once', async () => {
    for (const bytes of [gif(), gif({ size: 700_000 })]) {
      const me = await visit(world, world.main)
      const idempotencyKey = newIdempotencyKey()
      const answers = await Promise.all(Array.from({ length: 12 }, () => send(me, bytes, idempotencyKey)))
      for (const answer of answers) assert.equal(answer.status, 201, answer.text)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(await me.remaining(), 99)
    }
  })

  onMain('stores one of several concurrent images with the same key', async (me) => {
    const idempotencyKey = newIdempotencyKey()
    const images = Array.from({ length: 8 }, (_, i) => gif({ size: 300_000 + i }))
    const answers = await Promise.all(images.map((bytes) => send(me, bytes, idempotencyKey)))
    const won = answers.findIndex(({ status }) => status === 201)
    for (const [i, answer] of answers.entries()) {
      if (i !== won) checkProblem(answer, 422, 'idempotency-key-reused')
    }
    assert.deepEqual((await me.get(`/raw/${answers[won]!.json().id}`)).body, images[won])
    assert.equal(await me.remaining(), 99)
  })

  onMain('refuses a different image with a used key and keeps the first', async (me) => {
    const idempotencyKey = newIdempotencyKey()
    const bytes = gif()
    const { id } = (await send(me, bytes, idempotencyKey)).json()
    checkProblem(await send(me, png(3, 3), idempotencyKey), 422, 'idempotency-key-reused')
    checkPage(await send(me, png(3, 3), idempotencyKey, { Accept: 'text/html' }), 422)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes)
    assert.equal(await me.remaining(), 99)
  })

  onMain('stores the same bytes again under another key', async (me) => {
    const bytes = gif()
    const idempotencyKey = newIdempotencyKey()
    const ids = new Set([
      (await send(me, bytes, idempotencyKey)).json().id,
      (await send(me, bytes, newIdempotencyKey())).json().id,
      (await send(me, bytes, `${idempotencyKey}.`)).json().id,
      (
        await send(
          me,
          bytes,
          idempotencyKey.toUpperCase() === idempotencyKey
            ? idempotencyKey.toLowerCase()
            : idempotencyKey.toUpperCase(),
        )
      ).json().id,
    ])
    assert.equal(ids.size, 4)
  })

  it('answers a retry from another address without using its quota', async () => {
    const idempotencyKey = newIdempotencyKey()
    const bytes = gif()
    const first = await send(await visit(world, world.main), bytes, idempotencyKey)
    const elsewhere = await visit(world, world.main)
    const again = await send(elsewhere, bytes, idempotencyKey)
    assert.equal(again.text, first.text)
    assert.equal(await elsewhere.remaining(), 100)
  })

  onStrict('answers a retry of the last upload of the day, but stores nothing new', async (me) => {
    await me.store()
    const [idempotencyKey, bytes] = [newIdempotencyKey(), gif()]
    const first = await send(me, bytes, idempotencyKey)
    assert.equal(remainingOf(first), 0)
    const again = await send(me, bytes, idempotencyKey)
    assert.equal(again.status, 201, again.text)
    assert.equal(again.text, first.text)
    checkProblem(await send(me, png(2, 2), idempotencyKey), 422, 'idempotency-key-reused')
    checkProblem(await send(me, gif(), newIdempotencyKey()), 429, 'quota-exceeded')
    checkProblem(await send(me, Buffer.from('no image'), newIdempotencyKey()), 429, 'quota-exceeded')
    await me.remove(first.json().key)
    checkProblem(await send(me, bytes, idempotencyKey), 429, 'quota-exceeded')
  })

  onMain('answers retries in every representation', async (me) => {
    const [idempotencyKey, bytes] = [newIdempotencyKey(), gif()]
    const { link } = (await send(me, bytes, idempotencyKey)).json()
    assert.equal((await send(me, bytes, idempotencyKey, { Accept: 'text/plain' })).text, `${link}\n`)
    const page = await send(me, bytes, idempotencyKey, { Accept: 'text/html' })
    checkPage(page, 201)
    assert.ok(page.text.includes(link))
  })

  onMain('lets a key be reused after a refused upload', async (me) => {
    const idempotencyKey = newIdempotencyKey()
    checkProblem(await send(me, Buffer.from('no image'), idempotencyKey), 415, 'unsupported-type')
    assert.equal((await send(me, gif(), idempotencyKey)).status, 201)
  })

  const bad = [
    '',
    'x'.repeat(21),
    'x'.repeat(256),
    `${'x'.repeat(22)} y`,
    `${'x'.repeat(22)}\u00e9`,
    'x'.repeat(4000),
  ]
  onMain('refuses keys that are too short, too long or not visible ASCII', async (me) => {
    for (const key of bad) checkProblem(await send(me, gif(), key), 400, 'bad-idempotency-key')
    assert.equal(await me.remaining(), 100)
  })

  onMain('accepts keys of 22 and 255 characters, and refuses two keys', async (me) => {
    for (const length of [22, 255]) {
      const idempotencyKey = newIdempotencyKey().repeat(12).slice(0, length)
      assert.equal((await send(me, gif(), idempotencyKey)).status, 201)
    }
    const two = [newIdempotencyKey(), newIdempotencyKey()]
    const answer = await me.upload(gif(), { 'Idempotency-Key': two })
    checkProblem(answer, 400, 'bad-idempotency-key')
  })
}
