/** Deleted, held and removed images: their IDs are never reused, and their bytes may be refused. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { gif, png } from '../../support/images/tiny-images.ts'
import { idempotentUploads, needsOperator, visit, visitsTo, type World } from './host.ts'
import { operate } from './operator.ts'
import { checkPage, checkProblem } from './rules.ts'

export function removedImageCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const operated = visitsTo(world, world.main, needsOperator)

  const { newIdempotencyKey, send } = idempotentUploads(world)

  onMain('never reuses the ID of an image that its uploader deleted', async (me) => {
    for (const [first, ...later] of [
      [gif(), gif(), png(7, 7)],
      [gif({ size: 700_000 }), gif({ size: 700_000 }), gif({ size: 700_001 })],
    ]) {
      const idempotencyKey = newIdempotencyKey()
      const { id, key } = (await send(me, first!, idempotencyKey)).json()
      for (let n = 0; n < 3; n++) assert.equal((await me.get(`/raw/${id}`)).status, 200)
      assert.equal((await me.remove(key)).status, 200)
      for (const bytes of [first!, ...later, Buffer.from('no image')]) {
        const answer = await send(me, bytes, idempotencyKey)
        checkProblem(answer, 422, 'idempotency-key-reused')
        assert.match(answer.json().detail, /deleted.*new key/)
      }
      checkPage(await send(me, first!, idempotencyKey, { Accept: 'text/html' }), 422)
      for (let n = 0; n < 6; n++) checkProblem(await me.get(`/raw/${id}`), 404, 'not-found')
    }
    assert.equal(await me.remaining(), 98)
  })

  operated('never reuses the ID of an image that its uploader deleted while it was held', async (me) => {
    const idempotencyKey = newIdempotencyKey()
    const { id, key } = (await send(me, gif(), idempotencyKey)).json()
    await operate(me.host, ['hold', id, '--reason', 'a report'])
    assert.equal((await me.remove(key)).status, 200)
    checkProblem(await me.get(`/raw/${id}`), 404, 'not-found')
    checkProblem(await send(me, png(4, 4), idempotencyKey), 422, 'idempotency-key-reused')
  })

  onMain('stores nothing new when retries race with a deletion', async (me) => {
    for (let round = 0; round < 5; round++) {
      const idempotencyKey = newIdempotencyKey()
      const bytes = gif({ size: 20_000 })
      const { id, key } = (await send(me, bytes, idempotencyKey)).json()
      const [removed, ...answers] = await Promise.all([
        me.remove(key),
        ...Array.from({ length: 6 }, (_, i) => send(me, i % 2 === 0 ? bytes : png(5, i), idempotencyKey)),
      ])
      assert.equal(removed.status, 200)
      // A retry may have been answered before the deletion.
      for (const answer of answers)
        if (answer.status !== 201) checkProblem(answer, 422, 'idempotency-key-reused')
      checkProblem(await me.get(`/raw/${id}`), 404, 'not-found')
      checkProblem(await send(me, bytes, idempotencyKey), 422, 'idempotency-key-reused')
    }
  })

  operated(
    'answers a retry with 403 while the image is held, and as before once it is released',
    async (me) => {
      const [idempotencyKey, bytes] = [newIdempotencyKey(), gif()]
      const first = await send(me, bytes, idempotencyKey)
      const { id } = first.json()
      await operate(me.host, ['hold', id, '--reason', 'a report'])
      checkProblem(await send(me, bytes, idempotencyKey), 403, 'held')
      await operate(me.host, ['release', id, '--reason', 'nothing in it'])
      assert.equal((await send(me, bytes, idempotencyKey)).text, first.text)
      assert.equal(await me.remaining(), 99)
    },
  )

  operated('answers a retry with 410 after the operator removed the image', async (me) => {
    const idempotencyKey = newIdempotencyKey()
    const { id } = (await send(me, gif(), idempotencyKey)).json()
    await operate(me.host, ['remove', id, '--reason', 'against the terms', '--rule', 'house-rule-3'])
    checkProblem(await send(me, gif(), idempotencyKey), 410, 'removed')
    checkProblem(await send(me, png(2, 3), idempotencyKey), 410, 'removed')
    for (const page of [
      await send(me, gif(), idempotencyKey, { Accept: 'text/html' }),
      await me.get(`/${id}`),
    ]) {
      checkPage(page, 410)
      assert.match(page.text, /<p>house-rule-3<\/p>/, 'the rule that the image broke')
    }
    assert.equal((await me.get(`/raw/${id}`)).status, 410)
    assert.equal(await me.remaining(), 99)
  })

  operated('refuses the bytes of a held image until the operator releases it', async (me) => {
    const bytes = gif({ size: 3000 })
    const { id } = await me.store(bytes)
    await operate(me.host, ['hold', id, '--reason', 'a report'])
    const other = await visit(world, world.main)
    for (const answer of [
      await me.upload(bytes),
      await other.upload(bytes),
      await send(other, bytes, newIdempotencyKey()),
    ]) {
      checkProblem(answer, 403, 'held')
      assert.doesNotMatch(answer.text, /report/)
    }
    checkPage(await other.upload(bytes, { Accept: 'text/html' }), 403)
    assert.equal(await other.remaining(), 100)
    assert.equal((await other.upload(gif({ size: 3001 }))).status, 201)
    await operate(me.host, ['release', id, '--reason', 'harmless'])
    assert.equal((await other.upload(bytes)).status, 201)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes)
  })

  operated('refuses files that become a held image once their metadata is removed', async (me) => {
    const picture = sharp({ create: { width: 9, height: 7, channels: 3, background: '#357' } })
    const sent = await picture
      .withExif({ IFD0: { Artist: 'somebody' } })
      .jpeg()
      .toBuffer()
    const { id } = (await me.upload(sent)).json()
    const stored = (await me.get(`/raw/${id}`)).body
    assert.notDeepEqual(stored, sent)
    await operate(me.host, ['hold', id, '--reason', 'a report'])
    for (const bytes of [sent, stored]) checkProblem(await me.upload(bytes), 403, 'held')
  })

  operated(
    'refuses the bytes of a held image after its uploader deleted it, until the operator decides',
    async () => {
      for (const [act, ...options] of [['release'], ['remove'], ['remove', '--block']]) {
        const me = await visit(world, world.main)
        const idempotencyKey = newIdempotencyKey()
        const bytes = gif({ size: 4000 + Math.floor(Math.random() * 10_000) })
        const { id, key } = (await send(me, bytes, idempotencyKey)).json()
        await operate(me.host, ['hold', id, '--reason', 'a report'])
        assert.equal((await me.remove(key)).status, 200)
        checkProblem(await me.get(`/raw/${id}`), 404, 'not-found')
        checkProblem(await send(me, bytes, idempotencyKey), 422, 'idempotency-key-reused')
        checkProblem(await send(me, bytes, newIdempotencyKey()), 403, 'held')
        checkProblem(await me.upload(bytes), 403, 'held')
        const { stdout } = await me.host.operator!(['show', id])
        assert.match(stdout, /nobody can upload its bytes/)
        await me.host.operator!([act!, id, '--reason', 'decided', ...options])
        const answer = await me.upload(bytes)
        if (options.length > 0) checkProblem(answer, 403, 'blocked-image')
        else assert.equal(answer.status, 201, answer.text)
        const again = await send(me, bytes, idempotencyKey)
        if (act === 'remove') checkProblem(again, 410, 'removed')
        else checkProblem(again, 422, 'idempotency-key-reused')
      }
    },
  )

  onMain('accepts the bytes of an image that is only reported', async (me) => {
    const image = await me.store()
    const text = 'a stranger says so, and nothing more than that'
    const filed = await me.report({ image: image.id, category: 'other', text, goodFaith: true })
    assert.equal(filed.status, 202, filed.text)
    assert.equal((await me.upload(image.bytes)).status, 201)
  })

  operated('also holds public copies of the image with --doubles', async (me) => {
    const one = await me.store(gif({ size: 5000 }))
    const two = (await me.upload(one.bytes)).json()
    await operate(me.host, ['hold', one.id, '--reason', 'a report', '--doubles'])
    for (const { id } of [one, two]) checkProblem(await me.get(`/raw/${id}`), 403, 'held')
    checkProblem(await me.upload(one.bytes), 403, 'held')
    await operate(me.host, ['release', one.id, '--reason', 'harmless'])
    checkProblem(await me.upload(one.bytes), 403, 'held')
    await operate(me.host, ['release', two.id, '--reason', 'harmless'])
    assert.equal((await me.upload(one.bytes)).status, 201)
  })
}
