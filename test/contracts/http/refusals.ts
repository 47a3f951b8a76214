/** What refused uploads cost, and those that are under way at once. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { type Conversation, converse } from '../../support/socket.ts'
import { until } from '../../support/until.ts'
import { needsSingleQueue, uploadHead, type Visitor, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const NO_IMAGE = Buffer.from('no image')

export function refusalCases(world: World): void {
  const inOneLineOnHasty = visitsTo(world, world.hasty, needsSingleQueue)
  const inOneLine = visitsTo(world, world.main, needsSingleQueue)
  const inOneLineOnFrugal = visitsTo(world, world.frugal, needsSingleQueue)

  const frugal = () => visit(world, world.frugal)

  it('refuses three times a day, then answers 429 with Retry-After to whatever comes', async () => {
    const me = await frugal()
    await me.store()
    for (let n = 1; n <= 3; n++) checkProblem(await me.upload(NO_IMAGE), 415, 'unsupported-type')
    for (const bytes of [gif(), NO_IMAGE]) {
      const answer = await me.upload(bytes)
      checkProblem(answer, 429, 'too-many-refusals')
      assert.equal(answer.headers.get('X-RateLimit-Remaining'), '0')
    }
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 429)
    assert.equal((await (await frugal()).upload(gif())).status, 201, 'others go on')
  })

  it('counts refusals of every kind, and nothing else', async () => {
    const me = await frugal()
    const file = gif()
    await me.store(file)
    // Before the body, without a reservation.
    for (let n = 0; n < 5; n++) {
      checkProblem(await me.upload(file, { 'Sec-Fetch-Site': 'cross-site' }), 403, 'cross-site')
      checkProblem(await me.request('PUT', '/api/upload'), 405, 'method-not-allowed')
    }
    await me.store(file)
    checkProblem(await me.upload(file.subarray(0, 20)), 422, 'damaged-image')
    checkProblem(await me.post({ body: NO_IMAGE, contentType: 'text/plain' }), 415, 'not-multipart')
    checkProblem(await me.upload(Buffer.alloc(0)), 400, 'missing-file')
    checkProblem(await me.upload(file), 429, 'too-many-refusals')
  })

  it('counts the bytes of refused uploads', async () => {
    const me = await frugal()
    for (let n = 0; n < 2; n++) checkProblem(await me.upload(Buffer.alloc(60_000)), 415, 'unsupported-type')
    checkProblem(await me.upload(gif()), 429, 'too-many-refusals')
  })

  it('loses no refusal when they come at once', async () => {
    const me = await frugal()
    let refused = 0
    for (;;) {
      const answers = await Promise.all(Array.from({ length: 6 }, () => me.upload(NO_IMAGE)))
      refused += answers.filter(({ status }) => status === 415).length
      if (answers.every(({ status }) => status === 429)) break
      for (const answer of answers) if (answer.status === 503) checkProblem(answer, 503, 'busy')
    }
    // Those that are under way already are let through.
    assert.ok(refused >= 3 && refused <= 3 + 2 * 3, `${refused} refused of 3, with 2 at once on 3 servers`)
  })

  inOneLineOnFrugal(
    'reads two uploads of an address at once: the others wait, and have their turn in the order they came',
    async (me) => {
      const silent = [await beginUpload(me), await beginUpload(me)]
      await until('both hold their reservations', async () => (await me.remaining()) === 2)
      const first = await beginUpload(me, { awaitsContinue: true })
      await settle(me)
      const second = await beginUpload(me, { awaitsContinue: true })
      await settle(me)
      assert.deepEqual([first.wasAnswered(), second.wasAnswered()], [false, false])
      assert.equal((await (await frugal()).upload(gif())).status, 201, 'others go on')
      silent[0]!.talk.close()
      await until('the first is told to go on', () => first.wasAnswered())
      assert.equal(second.wasAnswered(), false)
      await first.finish()
      assert.equal((await first.talk.answer()).status, 201)
      await until('the second is told to go on', () => second.wasAnswered())
      await second.finish()
      assert.equal((await second.talk.answer()).status, 201)
      silent[1]!.talk.close()
    },
  )

  inOneLineOnHasty('answers 503 to an upload that waited too long, and takes the next ones', async (me) => {
    const silent = await Promise.all(Array.from({ length: 16 }, () => beginUpload(me)))
    await until('all hold their reservations', async () => (await me.remaining()) === 84)
    checkProblem(await me.upload(gif()), 503, 'busy')
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 503)
    silent[7]!.talk.close()
    // A busy server may see the end of the one later than another upload waits.
    await until('the next one is stored', async () => (await me.upload(gif())).status === 201)
    for (const { talk } of silent) talk.close()
  })

  inOneLine('loses no place to clients that go away while they wait', async (me) => {
    const begun = await Promise.all(Array.from({ length: 16 + 10 }, () => beginUpload(me)))
    await until('those that are read hold their reservations', async () => (await me.remaining()) === 84)
    for (const { talk } of begun) talk.close()
    const answers = await Promise.all(Array.from({ length: 101 }, () => me.upload(gif())))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(100).fill(201), 429])
  })

  inOneLineOnFrugal(
    'does not answer for a reservation that may yet be given back until that is known',
    async (me) => {
      for (let n = 0; n < 3; n++) await me.store()
      const silent = await beginUpload(me)
      await until('it holds the last', async () => (await me.remaining()) === 0)
      const [one, other] = [me.upload(gif()), me.upload(gif())]
      silent.talk.close()
      const answers = await Promise.all([one, other])
      const [stored, refused] = answers.sort((a, b) => a.status - b.status)
      assert.equal(stored!.status, 201)
      checkProblem(refused!, 429, 'quota-exceeded')
    },
  )
}

interface Begun {
  talk: Conversation
  /** With `100 Continue`, or for good. */
  wasAnswered(): boolean
  finish(): Promise<void>
}

/** The server saw what was sent before: this came later, and was answered. */
async function settle(me: Visitor): Promise<void> {
  await me.request('PUT', '/api/upload')
}

/** Sends the half of an upload, or its headers alone if it is to be told to go on. */
async function beginUpload(me: Visitor, { awaitsContinue = false } = {}): Promise<Begun> {
  const { body, contentType } = formOf(gif({ size: 10_000 }))
  const talk = await converse(me.host.url)
  let wasAnswered = false
  talk.socket.once('data', () => {
    wasAnswered = true
  })
  const sent = awaitsContinue ? 0 : 5000
  await talk.write(
    uploadHead(
      me,
      `${awaitsContinue ? 'Expect: 100-continue\r\n' : ''}` +
        `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`,
    ),
  )
  await talk.write(body.subarray(0, sent))
  return { talk, wasAnswered: () => wasAnswered, finish: () => talk.write(body.subarray(sent)) }
}
