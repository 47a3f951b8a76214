/** Operator commands take effect immediately in the running host. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { type Host, needsOperator, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

/** Allowed clock skew of a remote ledger. */
const CLOCK_MS = 2000

export function operatorCases(world: World): void {
  const operated = visitsTo(world, world.main, needsOperator)

  operated('removes images: every URL returns 410', async (me) => {
    const [one, two, stays] = [await me.store(), await me.store(), await me.store()]
    for (let i = 0; i < 3; i++) assert.equal((await me.get(`/raw/${one.id}`)).status, 200)
    await operate(me.host, ['remove', one.id, two.id, '--reason', 'a letter', '--rule', 'copyright'])
    for (const image of [one, two]) {
      const { id, key, bytes } = image
      await me.checkHidden(image, 410, 'removed')
      const page = await me.get(`/${id}`)
      checkPage(page, 410)
      assert.match(page.text, /removed/i)
      assert.match(page.text, /reason:<\/p><p>Copyright/)
      assert.match(page.text, /contact the operator: <a href="mailto:ada@ops\.example"/)
      assert.doesNotMatch(page.text, /og:image|a letter/, 'the reason is only for the audit log')
      assert.equal((await me.request('HEAD', `/${id}`)).status, 410)
      checkPage(await me.get(`/api/delete?key=${key}`), 410)
      const deletion = await me.remove(key)
      assert.ok([404, 410].includes(deletion.status))
      assert.equal(deletion.json().success, false)
      // Removed but not blocked.
      assert.equal((await me.upload(bytes)).status, 201)
    }
    assert.equal((await me.get(`/raw/${stays.id}`)).status, 200)
  })

  operated('holds images: every URL returns 403 until they are released', async (me) => {
    const image = await me.store()
    const { id, bytes } = image
    const before = await me.get(`/raw/${id}`)
    for (let round = 0; round < 2; round++) {
      await operate(me.host, ['hold', id, '--reason', 'a report', '--rule', 'copyright'])
      await me.checkHidden(image, 403, 'held')
      const page = await me.get(`/${id}`)
      checkPage(page, 403)
      assert.equal(page.headers.get('Cache-Control'), 'no-store')
      assert.doesNotMatch(page.text, /og:image|\/raw\//)
      assert.doesNotMatch(page.text, /copyright|a report|blockquote/i, 'a hold does not reveal its reason')
      await operate(me.host, ['release', id, '--reason', 'harmless'])
      const after = await me.get(`/raw/${id}`)
      assert.equal(after.status, 200)
      assert.ok(after.body.equals(bytes))
      for (const name of ['ETag', 'Content-Type', 'Content-Length', 'Cache-Control', 'Repr-Digest']) {
        assert.equal(after.headers.get(name), before.headers.get(name), name)
      }
      assert.equal((await me.get(`/${id}`)).status, 200)
    }
    assert.equal((await me.remove(image.key)).status, 200, 'the deletion key still works')
  })

  operated('lets the uploader’s key delete a held image', async (me) => {
    const [image, other] = [await me.store(), await me.store()]
    await operate(me.host, ['hold', image.id, other.id, '--reason', 'a report'])
    assert.equal((await me.remove(image.id + 'A'.repeat(32))).status, 404)
    checkProblem(await me.get(`/raw/${image.id}`), 403, 'held')
    checkPage(await me.get(`/api/delete?key=${image.key}`), 200)
    assert.deepEqual((await me.remove(image.key)).json(), { success: true })
    checkProblem(await me.get(`/raw/${image.id}`), 404, 'not-found')
    assert.equal((await me.remove(image.key)).status, 404)
    const release = ['release', image.id, '--reason', 'x']
    assert.equal((await me.host.operator!(release)).code, 0, 'releases the bytes')
    assert.equal((await me.host.operator!(release)).code, 1)
    await operate(me.host, ['remove', other.id, '--reason', 'x', '--block'])
    checkProblem(await me.get(`/raw/${other.id}`), 410, 'removed')
    checkProblem(await me.upload(other.bytes), 403, 'blocked-image')
  })

  operated('records actor, action, time, reason and rule in the audit log', async (me) => {
    const { id } = await me.store()
    const since = Date.now()
    await operate(me.host, ['hold', id, '--reason', 'why-as-recorded', '--rule', 'personal-data'])
    const { stdout } = await operate(me.host, ['audit', '--json', '--limit', '1000'])
    const acts = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const act = acts.find(({ subject }) => subject === id)
    assert.deepEqual([act.act, act.reason, act.rule], ['hold', 'why-as-recorded', 'personal-data'])
    assert.match(act.who, /.+@.+/)
    const at = Date.parse(act.at)
    assert.ok(at >= since - CLOCK_MS && at <= Date.now() + CLOCK_MS)
  })

  operated('blocks a removed image both as sent and as stored', async (me) => {
    const sent = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#c03' } })
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer()
    const { id } = await me.store(sent)
    const stored = (await me.get(`/raw/${id}`)).body
    assert.notEqual(sha256Of(stored), sha256Of(sent))
    await operate(me.host, ['remove', id, '--reason', 'against the law', '--block'])
    const left = await me.remaining()
    for (const bytes of [sent, stored]) {
      checkProblem(await me.upload(bytes), 403, 'blocked-image')
    }
    const hidden = Buffer.concat([stored, Buffer.from('a tail changes the digest')])
    checkProblem(await me.upload(hidden), 403, 'blocked-image')
    checkPage(await me.upload(sent, { Accept: 'text/html' }), 403)
    assert.equal(await me.remaining(), left, 'refused uploads do not count')
  })

  operated('blocks the digest of a file as sent', async (me) => {
    const sent = await sharp({ create: { width: 7, height: 5, channels: 3, background: '#0c3' } })
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer()
    const { id } = await me.store(sent)
    const stored = (await me.get(`/raw/${id}`)).body
    await operate(me.host, ['block', sha256Of(sent), '--reason', 'known'])
    checkProblem(await me.upload(sent), 403, 'blocked-image')
    assert.equal((await me.upload(stored)).status, 201, 'the stored file has another digest')
  })

  operated('blocks and unblocks by digest', async (me) => {
    const bytes = gif()
    const before = await me.store(bytes)
    await operate(me.host, ['block', sha256Of(bytes), '--reason', 'known'])
    checkProblem(await me.upload(bytes), 403, 'blocked-image')
    assert.equal((await me.get(`/raw/${before.id}`)).status, 200, 'a block is not a removal')
    await operate(me.host, ['unblock', sha256Of(bytes), '--reason', 'a mistake'])
    assert.equal((await me.upload(bytes)).status, 201)
  })

  operated('shows the latest actions with their reasons in status', async (me) => {
    const { id } = await me.store()
    await operate(me.host, ['remove', id, '--reason', 'reason-as-recorded'])
    const { stdout } = await operate(me.host, ['status'])
    assert.ok(stdout.includes(id), stdout)
    assert.ok(stdout.includes('reason-as-recorded'), stdout)
    assert.match(stdout, /\d{4}-\d\d-\d\d/)
  })

  operated('rejects invalid arguments and changes nothing', async (me) => {
    const { id } = await me.store()
    const wrong = [
      ['remove', id],
      ['remove', '--reason', 'x'],
      ['remove', id, '../../etc/passwd', '--reason', 'x'],
      ['remove', id, '--reason', ''],
      ['remove', id, '--reason', 'x', '--blokc'],
      ['block', 'no-digest', '--reason', 'x'],
      ['erase', id],
      ['hold', id],
      ['hold', id, '--reason', 'x', '--rule', 'No Code'],
      ['release', '--reason', 'x'],
      ['set', 'uploads', 'off'],
      ['set', 'daily-uploads', '-1'],
      ['set', 'no-such-setting', '1'],
    ]
    await Promise.all(
      wrong.map(async (words) => {
        const ran = await me.host.operator!(words)
        assert.notEqual(ran.code, 0, words.join(' '))
        assert.notEqual(ran.stderr, '', words.join(' '))
        assert.doesNotMatch(ran.stderr, /\n {4}at /, `a stack trace for a usage error: ${words.join(' ')}`)
      }),
    )
    assert.equal((await me.get(`/raw/${id}`)).status, 200)
  })
}

export async function operate(host: Host, words: string[]) {
  const ran = await host.operator!(words)
  assert.equal(ran.code, 0, `${words.join(' ')}\n${ran.stdout}\n${ran.stderr}`)
  return ran
}
