/** The operator's command: at once effective in the running host. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import sharp from 'sharp'
import { gif } from '../../support/images/tiny-images.ts'
import { type Host, sha256, visit, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const NO_COMMAND = 'does not apply: this host has no operator command'

export function operatorCases(world: World): void {
  it('removes images: 410 wherever they were', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const [one, two, stays] = [await me.store(), await me.store(), await me.store()]
    for (let i = 0; i < 3; i++) assert.equal((await me.get(`/raw/${one.id}`)).status, 200)
    await operate(me.host, ['remove', one.id, two.id, '--reason', 'against the terms'])
    for (const { id, key, bytes } of [one, two]) {
      const etag = `"${sha256(bytes)}"`
      const questions: Record<string, string>[] = [
        {},
        { 'If-None-Match': etag },
        { Range: 'bytes=0-1' },
        { 'If-Match': etag },
      ]
      for (const headers of questions) {
        for (const path of [`/raw/${id}`, `/raw/${id}?dl=1`]) {
          const raw = await me.get(path, headers)
          checkProblem(raw, 410, 'removed')
          assert.equal(raw.headers.get('Cache-Control'), 'no-store')
          assert.equal((await me.request('HEAD', path, { headers })).status, 410)
        }
      }
      const page = await me.get(`/${id}`)
      checkPage(page, 410)
      assert.match(page.text, /removed/i)
      assert.doesNotMatch(page.text, /og:image/)
      assert.equal((await me.request('HEAD', `/${id}`)).status, 410)
      checkPage(await me.get(`/api/delete?key=${key}`), 410)
      const deletion = await me.remove(key)
      assert.ok([404, 410].includes(deletion.status))
      assert.equal(deletion.json().success, false)
      // Removed, not blocked.
      assert.equal((await me.upload(bytes)).status, 201)
    }
    assert.equal((await me.get(`/raw/${stays.id}`)).status, 200)
  })

  it('blocks what it removes, by what was sent and by what was stored', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const sent = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#c03' } })
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer()
    const { id } = await me.store(sent)
    const stored = (await me.get(`/raw/${id}`)).body
    assert.notEqual(sha256(stored), sha256(sent))
    await operate(me.host, ['remove', id, '--reason', 'against the law', '--block'])
    const left = await me.remaining()
    for (const bytes of [sent, stored]) {
      checkProblem(await me.upload(bytes), 403, 'blocked-image')
    }
    const hidden = Buffer.concat([stored, Buffer.from('a tail makes it look new')])
    checkProblem(await me.upload(hidden), 403, 'blocked-image')
    checkPage(await me.upload(sent, { Accept: 'text/html' }), 403)
    assert.equal(await me.remaining(), left, 'refusals do not count')
  })

  it('blocks by what is sent alone', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const sent = await sharp({ create: { width: 7, height: 5, channels: 3, background: '#0c3' } })
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer()
    const { id } = await me.store(sent)
    const stored = (await me.get(`/raw/${id}`)).body
    await operate(me.host, ['block', sha256(sent), '--reason', 'known'])
    checkProblem(await me.upload(sent), 403, 'blocked-image')
    assert.equal((await me.upload(stored)).status, 201, 'what would be stored of it has another digest')
  })

  it('blocks and unblocks by digest', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const bytes = gif()
    const before = await me.store(bytes)
    await operate(me.host, ['block', sha256(bytes), '--reason', 'known'])
    checkProblem(await me.upload(bytes), 403, 'blocked-image')
    assert.equal((await me.get(`/raw/${before.id}`)).status, 200, 'a block is not a removal')
    await operate(me.host, ['unblock', sha256(bytes), '--reason', 'a mistake'])
    assert.equal((await me.upload(bytes)).status, 201)
  })

  it('says what there is, and what was done and why', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const { id } = await me.store()
    await operate(me.host, ['remove', id, '--reason', 'reason-as-recorded'])
    const { stdout } = await operate(me.host, ['status'])
    assert.ok(stdout.includes(id), stdout)
    assert.ok(stdout.includes('reason-as-recorded'), stdout)
    assert.match(stdout, /\d{4}-\d\d-\d\d/)
  })

  it('does nothing when it is not asked properly', async (t: TestContext) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip(NO_COMMAND)
    const { id } = await me.store()
    const wrong = [
      ['remove', id],
      ['remove', '--reason', 'x'],
      ['remove', id, '../../etc/passwd', '--reason', 'x'],
      ['remove', id, '--reason', ''],
      ['remove', id, '--reason', 'x', '--blokc'],
      ['block', 'no-digest', '--reason', 'x'],
      ['erase', id],
    ]
    await Promise.all(
      wrong.map(async (words) => {
        const ran = await me.host.operator!(words)
        assert.notEqual(ran.code, 0, words.join(' '))
        assert.notEqual(ran.stderr, '', words.join(' '))
        assert.doesNotMatch(ran.stderr, /\n {4}at /, `a stack for a slip: ${words.join(' ')}`)
      }),
    )
    assert.equal((await me.get(`/raw/${id}`)).status, 200)
  })
}

async function operate(host: Host, words: string[]) {
  const ran = await host.operator!(words)
  assert.equal(ran.code, 0, `${words.join(' ')}\n${ran.stdout}\n${ran.stderr}`)
  return ran
}
