/** Images that a scanner checks before they are published. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { type Behaviour, verdict } from '../../support/fake-scanner.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { type Visitor, visit, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

export function scanCases(world: World): void {
  /** Uploads an image for which the scanner behaves as given. */
  async function send(does: Behaviour, headers = {}) {
    const scanner = await world.scanner()
    const me = await visit(world, world.scanned)
    const bytes = gif({ size: 3000 })
    scanner.answers.set(sha256Of(bytes), does)
    const left = await me.remaining()
    const answer = await me.upload(bytes, headers)
    return { scanner, me, bytes, answer, used: async () => left - (await me.remaining()) }
  }

  async function assertBlocked(me: Visitor, bytes: Buffer): Promise<void> {
    checkProblem(await me.upload(bytes), 403, 'blocked-image')
  }

  it('publishes a clean image', async () => {
    const { scanner, me, bytes, answer, used } = await send('clean')
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(Object.keys(answer.json()), ['id', 'link', 'key', 'delete'])
    const raw = await me.get(`/raw/${answer.json().id}`)
    assert.ok(raw.body.equals(bytes))
    assert.equal(await used(), 1)
    const [request] = scanner.asked.filter(({ sha256 }) => sha256 === sha256Of(bytes))
    assert.equal(request?.type, 'image/gif')
    assert.equal(request?.announced, sha256Of(bytes))
    assert.equal(scanner.looksAt(bytes), 1)
  })

  for (const status of [406, 422, 451])
    it(`refuses an image and releases its reservation when the scanner responds ${status}`, async () => {
      const { me, bytes, answer, used } = await send({ status, body: '{"message":"no"}' })
      checkProblem(answer, 403, 'blocked-image')
      assert.match(answer.json().detail, /automatic check/)
      assert.equal(await used(), 0)
      checkPage(await me.upload(bytes, { Accept: 'text/html' }), 403)
    })

  it('blocks the bytes of a severe category permanently', async () => {
    const { scanner, me, bytes, answer } = await send(verdict('block', { category: 'child-abuse' }))
    checkProblem(answer, 403, 'blocked-image')
    scanner.answers.set(sha256Of(bytes), 'clean')
    await assertBlocked(me, bytes)
    assert.equal(scanner.looksAt(bytes), 1)
  })

  it('rescans a refused image of any other category when it is uploaded again', async () => {
    const { scanner, me, bytes, answer } = await send(verdict('block', { category: 'copyright' }))
    checkProblem(answer, 403, 'blocked-image')
    scanner.answers.set(sha256Of(bytes), 'clean')
    assert.equal((await me.upload(bytes)).status, 201)
  })

  for (const [name, does] of Object.entries({
    'resets the connection': 'reset',
    fails: { status: 500, body: '' },
    'responds with a redirect': { status: 302, body: '', headers: { Location: 'http://127.0.0.1:1/' } },
    'sends an unknown verdict': verdict('sure'),
    'never ends its response': 'endless',
    'responds too slowly': 'drip',
    'never responds': 'silent',
  } satisfies Record<string, Behaviour>))
    it(`returns 503 in time and stores nothing when the scanner ${name}`, async () => {
      const { me, bytes, scanner, answer, used } = await send(does)
      checkProblem(answer, 503, 'unavailable')
      assert.match(answer.json().detail, /the check is not responding/)
      assert.equal(await used(), 0)
      scanner.answers.set(sha256Of(bytes), 'clean')
      assert.equal((await me.upload(bytes)).status, 201, 'a later retry is accepted')
    })

  it('answers a retry without a second scan', async () => {
    const headers = { 'Idempotency-Key': randomBytes(16).toString('hex') }
    const { scanner, me, bytes, answer } = await send('clean', headers)
    assert.equal(answer.status, 201, answer.text)
    const again = await me.upload(bytes, headers)
    assert.deepEqual([again.status, again.json()], [201, answer.json()])
    assert.equal(scanner.looksAt(bytes), 1)
  })
}
