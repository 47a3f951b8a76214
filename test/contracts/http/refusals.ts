/** What refused uploads cost, and those that are under way at once. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Answer } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { type Conversation, converse } from '../../support/socket.ts'
import { until, untilSome } from '../../support/until.ts'
import { type Visitor, visit, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const NO_IMAGE = Buffer.from('no image')

export function refusalCases(world: World): void {
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

  it('takes two uploads of an address at once, and answers 503 with a short Retry-After to a third', async () => {
    const me = await frugal()
    if (!me.host.direct) {
      // What stands before the host sends uploads on when it has them whole.
      const answers = await Promise.all(Array.from({ length: 40 }, () => me.upload(gif({ size: 500_000 }))))
      const refused = answers.filter(({ status }) => status === 503)
      assert.ok(refused.length > 0, 'some of 40 at once come too many')
      for (const answer of refused) checkProblem(answer, 503, 'busy')
      return
    }
    const silent = [await beginUpload(me), await beginUpload(me)]
    // An upload is under way a little before it holds its reservation, and what comes before both are under way is stored.
    let stored = 0
    const answer = await untilSome('both are under way and hold their reservations', async () => {
      const tried = await me.upload(gif())
      if (tried.status === 201) stored++
      const held =
        Number(tried.headers.get('X-RateLimit-Limit')) -
        Number(tried.headers.get('X-RateLimit-Remaining')) -
        stored
      return tried.status === 503 && held === 2 ? tried : undefined
    })
    checkProblem(answer, 503, 'busy')
    checkRetrySoon(answer)
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 503)
    assert.equal((await (await frugal()).upload(gif())).status, 201, 'others go on')
    for (const talk of silent) talk.close()
    await until('they are given up', async () => (await me.upload(gif())).status === 201)
  })

  it('calls no reservation used up that may yet be given back', async (t) => {
    const me = await frugal()
    if (!me.host.direct) return t.skip('does not apply: uploads are sent on when they are whole')
    for (let n = 0; n < 3; n++) await me.store()
    const silent = await beginUpload(me)
    await until('it holds the last', async () => (await me.upload(gif())).status === 503)
    const answer = await me.upload(gif())
    checkProblem(answer, 503, 'busy')
    checkRetrySoon(answer)
    assert.equal(answer.headers.get('X-RateLimit-Remaining'), '0')
    silent.close()
    await until('it is given back', async () => (await me.upload(gif())).status === 201)
    checkProblem(await me.upload(gif()), 429, 'quota-exceeded')
  })
}

function checkRetrySoon(answer: Answer): void {
  const seconds = Number(answer.headers.get('Retry-After'))
  assert.ok(seconds >= 1 && seconds <= 10, `Retry-After: ${seconds}`)
}

/** Sends the half of an upload, and then nothing. */
async function beginUpload(me: Visitor): Promise<Conversation> {
  const { body, contentType } = formOf(gif({ size: 10_000 }))
  const talk = await converse(me.host.url)
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\n${me.host.clientHeader}: ${me.address}\r\n` +
      `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await talk.write(body.subarray(0, 5000))
  return talk
}
