/** Pictures that a scanner looks at before they are stored. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { type Behaviour, verdict } from '../../support/fake-scanner.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { type Visitor, visit, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

export function scanCases(world: World): void {
  /** A visitor, and a picture that the scanner answers so. */
  async function send(does: Behaviour, headers = {}) {
    const scanner = await world.scanner()
    const me = await visit(world, world.scanned)
    const bytes = gif({ size: 3000 })
    scanner.answers.set(sha256Of(bytes), does)
    const left = await me.remaining()
    const answer = await me.upload(bytes, headers)
    return { scanner, me, bytes, answer, used: async () => left - (await me.remaining()) }
  }

  async function refused(me: Visitor, bytes: Buffer): Promise<void> {
    checkProblem(await me.upload(bytes), 403, 'blocked-image')
  }

  it('publishes what the scanner finds clean, as ever', async () => {
    const { scanner, me, bytes, answer, used } = await send('clean')
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(Object.keys(answer.json()), ['id', 'link', 'key', 'delete'])
    const raw = await me.get(`/raw/${answer.json().id}`)
    assert.ok(raw.body.equals(bytes))
    assert.equal(await used(), 1)
    const [asked] = scanner.asked.filter(({ sha256 }) => sha256 === sha256Of(bytes))
    assert.equal(asked?.type, 'image/gif')
    assert.equal(asked?.announced, sha256Of(bytes))
    assert.equal(scanner.looksAt(bytes), 1)
  })

  for (const status of [406, 422, 451])
    it(`refuses what the scanner answers ${status} to, and gives the reservation back`, async () => {
      const { me, bytes, answer, used } = await send({ status, body: '{"message":"no"}' })
      checkProblem(answer, 403, 'blocked-image')
      assert.match(answer.json().detail, /scanner/)
      assert.equal(await used(), 0)
      checkPage(await me.upload(bytes, { Accept: 'text/html' }), 403)
    })

  it('blocks the bytes of what is severe, whatever the scanner says later', async () => {
    const { scanner, me, bytes, answer } = await send(verdict('block', { category: 'child-abuse' }))
    checkProblem(answer, 403, 'blocked-image')
    scanner.answers.set(sha256Of(bytes), 'clean')
    await refused(me, bytes)
    assert.equal(scanner.looksAt(bytes), 1)
  })

  it('lets what is not severe be sent again, for another verdict', async () => {
    const { scanner, me, bytes, answer } = await send(verdict('block', { category: 'copyright' }))
    checkProblem(answer, 403, 'blocked-image')
    scanner.answers.set(sha256Of(bytes), 'clean')
    assert.equal((await me.upload(bytes)).status, 201)
  })

  for (const [name, does] of Object.entries({
    'resets the connection': 'reset',
    fails: { status: 500, body: '' },
    'sends elsewhere': { status: 302, body: '', headers: { Location: 'http://127.0.0.1:1/' } },
    'says something that is no verdict': verdict('sure'),
    'never ends its answer': 'endless',
    'answers too slowly': 'drip',
    'never answers': 'silent',
  } satisfies Record<string, Behaviour>))
    it(`answers 503 in time where the scanner ${name}, and stores nothing`, async () => {
      const { me, bytes, scanner, answer, used } = await send(does)
      checkProblem(answer, 503, 'unavailable')
      assert.match(answer.json().detail, /checked/)
      assert.equal(await used(), 0)
      scanner.answers.set(sha256Of(bytes), 'clean')
      assert.equal((await me.upload(bytes)).status, 201, 'a client that tries again')
    })

  it('answers a repeat as the first, and asks no second time', async () => {
    const headers = { 'Idempotency-Key': randomBytes(16).toString('hex') }
    const { scanner, me, bytes, answer } = await send('clean', headers)
    assert.equal(answer.status, 201, answer.text)
    const again = await me.upload(bytes, headers)
    assert.deepEqual([again.status, again.json()], [201, answer.json()])
    assert.equal(scanner.looksAt(bytes), 1)
  })
}
