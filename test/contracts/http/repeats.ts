/** Idempotency-Key: a repeat of an upload stores nothing twice, whatever was lost on the way. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import sharp from 'sharp'
import type { Answer } from '../../support/http.ts'
import { gif, png } from '../../support/images/tiny-images.ts'
import { idempotentUploads, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const picture = () => sharp({ create: { width: 9, height: 6, channels: 3, background: '#a75' } })

const remainingOf = (answer: Answer) => Number(answer.headers.get('X-RateLimit-Remaining'))

export function repeatCases(world: World): void {
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
    onMain(`answers a repeat of ${what} with the very same, and counts it once`, async (me) => {
      const bytes = await make()
      const name = newIdempotencyKey()
      const first = await send(me, bytes, name)
      assert.equal(first.status, 201, first.text)
      for (let nth = 2; nth <= 4; nth++) {
        const again = await send(me, bytes, name)
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

  it('stores one image of many that come at once, and counts one', async () => {
    for (const bytes of [gif(), gif({ size: 700_000 })]) {
      const me = await visit(world, world.main)
      const name = newIdempotencyKey()
      const answers = await Promise.all(Array.from({ length: 12 }, () => send(me, bytes, name)))
      for (const answer of answers) assert.equal(answer.status, 201, answer.text)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(await me.remaining(), 99)
    }
  })

  onMain('stores one of many images that come at once under one name', async (me) => {
    const name = newIdempotencyKey()
    const images = Array.from({ length: 8 }, (_, nth) => gif({ size: 300_000 + nth }))
    const answers = await Promise.all(images.map((bytes) => send(me, bytes, name)))
    const won = answers.findIndex(({ status }) => status === 201)
    for (const [nth, answer] of answers.entries()) {
      if (nth !== won) checkProblem(answer, 422, 'idempotency-key-reused')
    }
    assert.deepEqual((await me.get(`/raw/${answers[won]!.json().id}`)).body, images[won])
    assert.equal(await me.remaining(), 99)
  })

  onMain('refuses other bytes under a name that was used, and keeps the first', async (me) => {
    const name = newIdempotencyKey()
    const bytes = gif()
    const { id } = (await send(me, bytes, name)).json()
    checkProblem(await send(me, png(3, 3), name), 422, 'idempotency-key-reused')
    checkPage(await send(me, png(3, 3), name, { Accept: 'text/html' }), 422)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes)
    assert.equal(await me.remaining(), 99)
  })

  onMain('gives another name another image, also for the same bytes', async (me) => {
    const bytes = gif()
    const name = newIdempotencyKey()
    const ids = new Set([
      (await send(me, bytes, name)).json().id,
      (await send(me, bytes, newIdempotencyKey())).json().id,
      (await send(me, bytes, `${name}.`)).json().id,
      (await send(me, bytes, name.toUpperCase() === name ? name.toLowerCase() : name.toUpperCase())).json()
        .id,
    ])
    assert.equal(ids.size, 4)
  })

  it('answers the repeat from another address too, and takes nothing of its quota', async () => {
    const name = newIdempotencyKey()
    const bytes = gif()
    const first = await send(await visit(world, world.main), bytes, name)
    const elsewhere = await visit(world, world.main)
    const again = await send(elsewhere, bytes, name)
    assert.equal(again.text, first.text)
    assert.equal(await elsewhere.remaining(), 100)
  })

  onStrict('answers the repeat of the last upload of a day, and stores nothing more', async (me) => {
    await me.store()
    const [name, bytes] = [newIdempotencyKey(), gif()]
    const first = await send(me, bytes, name)
    assert.equal(remainingOf(first), 0)
    const again = await send(me, bytes, name)
    assert.equal(again.status, 201, again.text)
    assert.equal(again.text, first.text)
    checkProblem(await send(me, png(2, 2), name), 422, 'idempotency-key-reused')
    checkProblem(await send(me, gif(), newIdempotencyKey()), 429, 'quota-exceeded')
    checkProblem(await send(me, Buffer.from('no image'), newIdempotencyKey()), 429, 'quota-exceeded')
    await me.remove(first.json().key)
    checkProblem(await send(me, bytes, name), 429, 'quota-exceeded')
  })

  onMain('answers in each representation', async (me) => {
    const [name, bytes] = [newIdempotencyKey(), gif()]
    const { link } = (await send(me, bytes, name)).json()
    assert.equal((await send(me, bytes, name, { Accept: 'text/plain' })).text, `${link}\n`)
    const page = await send(me, bytes, name, { Accept: 'text/html' })
    checkPage(page, 201)
    assert.ok(page.text.includes(link))
  })

  onMain('leaves nothing of a refused image under its name', async (me) => {
    const name = newIdempotencyKey()
    checkProblem(await send(me, Buffer.from('no image'), name), 415, 'unsupported-type')
    assert.equal((await send(me, gif(), name)).status, 201)
  })

  const bad = [
    '',
    'x'.repeat(21),
    'x'.repeat(256),
    `${'x'.repeat(22)} y`,
    `${'x'.repeat(22)}\u00e9`,
    'x'.repeat(4000),
  ]
  for (const name of bad) {
    onMain(`refuses a name of ${name.length} characters, ending in “${name.slice(-2)}”`, async (me) => {
      checkProblem(await me.upload(gif(), { 'Idempotency-Key': name }), 400, 'bad-idempotency-key')
      assert.equal(await me.remaining(), 100)
    })
  }

  onMain('takes names of 22 and 255 characters, and refuses two', async (me) => {
    for (const length of [22, 255]) {
      const name = newIdempotencyKey().repeat(12).slice(0, length)
      assert.equal((await send(me, gif(), name)).status, 201)
    }
    const two = [newIdempotencyKey(), newIdempotencyKey()]
    const answer = await me.upload(gif(), { 'Idempotency-Key': two })
    checkProblem(answer, 400, 'bad-idempotency-key')
  })
}
