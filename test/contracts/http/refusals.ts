/** Limits on refused and on concurrent uploads. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { type Conversation, converse } from '../../support/socket.ts'
import { until } from '../../support/until.ts'
import {
  idempotentUploads,
  needsSingleQueue,
  uploadHead,
  type Visitor,
  visit,
  visitsTo,
  type World,
} from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const NO_IMAGE = Buffer.from('no image')

export function refusalCases(world: World): void {
  const onSingleQueueHasty = visitsTo(world, world.hasty, needsSingleQueue)
  const onSingleQueue = visitsTo(world, world.main, needsSingleQueue)
  const onSingleQueueFrugal = visitsTo(world, world.frugal, needsSingleQueue)

  const frugal = () => visit(world, world.frugal)

  it('returns 429 with Retry-After for any upload after three refused ones', async () => {
    const me = await frugal()
    await me.store()
    for (let n = 1; n <= 3; n++) checkProblem(await me.upload(NO_IMAGE), 415, 'unsupported-type')
    for (const bytes of [gif(), NO_IMAGE]) {
      const answer = await me.upload(bytes)
      checkProblem(answer, 429, 'too-many-refusals')
      assert.equal(answer.headers.get('X-RateLimit-Remaining'), '0')
    }
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 429)
    assert.equal((await (await frugal()).upload(gif())).status, 201, 'other clients are unaffected')
  })

  it('counts refusals after the body of any kind, but not earlier ones', async () => {
    const me = await frugal()
    const file = gif()
    await me.store(file)
    // Refused before the body, without a reservation.
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

  it('counts retries of a stored image, which are received in vain', async () => {
    const me = await frugal()
    const { newIdempotencyKey, send } = idempotentUploads(world)
    const [file, key] = [gif(), newIdempotencyKey()]
    for (let n = 0; n <= 3; n++) assert.equal((await send(me, file, key)).status, 201)
    checkProblem(await send(me, file, key), 429, 'too-many-refusals')
  })

  it('counts concurrent refusals', async () => {
    const me = await frugal()
    let refused = 0
    for (;;) {
      const answers = await Promise.all(Array.from({ length: 6 }, () => me.upload(NO_IMAGE)))
      refused += answers.filter(({ status }) => status === 415).length
      if (answers.every(({ status }) => status === 429)) break
      for (const answer of answers) if (answer.status === 503) checkProblem(answer, 503, 'busy')
    }
    // Uploads in flight when the limit is reached are still processed.
    assert.ok(
      refused >= 3 && refused <= 3 + 2 * 3,
      `${refused} refused, the limit is 3, with 2 concurrent uploads on 3 servers`,
    )
  })

  onSingleQueueFrugal(
    'reads two uploads of an address concurrently and queues the others in order of arrival',
    async (me) => {
      const silent = [await beginUpload(me), await beginUpload(me)]
      await until('both uploads hold reservations', async () => (await me.remaining()) === 2)
      const first = await beginUpload(me, { awaitsContinue: true })
      await awaitProcessing(me)
      const second = await beginUpload(me, { awaitsContinue: true })
      await awaitProcessing(me)
      assert.deepEqual([first.wasAnswered(), second.wasAnswered()], [false, false])
      assert.equal((await (await frugal()).upload(gif())).status, 201, 'other clients are unaffected')
      silent[0]!.talk.close()
      await until('the first upload may continue', () => first.wasAnswered())
      assert.equal(second.wasAnswered(), false)
      await first.finish()
      assert.equal((await first.talk.answer()).status, 201)
      await until('the second upload may continue', () => second.wasAnswered())
      await second.finish()
      assert.equal((await second.talk.answer()).status, 201)
      silent[1]!.talk.close()
    },
  )

  onSingleQueueHasty(
    'returns 503 for an upload that waits too long in the queue, and accepts later ones',
    async (me) => {
      const silent = await Promise.all(Array.from({ length: 16 }, () => beginUpload(me)))
      await until('all uploads hold reservations', async () => (await me.remaining()) === 84)
      checkProblem(await me.upload(gif()), 503, 'busy')
      checkPage(await me.upload(gif(), { Accept: 'text/html' }), 503)
      silent[7]!.talk.close()
      // A busy server may notice the closed connection only after the next upload has timed out.
      await until('the next upload is stored', async () => (await me.upload(gif())).status === 201)
      for (const { talk } of silent) talk.close()
    },
  )

  onSingleQueue('frees the slots of clients that disconnect while they wait', async (me) => {
    const pending = await Promise.all(Array.from({ length: 16 + 10 }, () => beginUpload(me)))
    await until('the uploads being read hold reservations', async () => (await me.remaining()) === 84)
    for (const { talk } of pending) talk.close()
    const answers = await Promise.all(Array.from({ length: 101 }, () => me.upload(gif())))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(100).fill(201), 429])
  })

  onSingleQueueFrugal(
    'delays a quota refusal while a pending upload may still release its reservation',
    async (me) => {
      for (let n = 0; n < 3; n++) await me.store()
      const silent = await beginUpload(me)
      await until('the upload holds the last reservation', async () => (await me.remaining()) === 0)
      const [one, other] = [me.upload(gif()), me.upload(gif())]
      silent.talk.close()
      const answers = await Promise.all([one, other])
      const [stored, refused] = answers.sort((a, b) => a.status - b.status)
      assert.equal(stored!.status, 201)
      checkProblem(refused!, 429, 'quota-exceeded')
    },
  )
}

interface PendingUpload {
  talk: Conversation
  /** Whether any response has arrived, including `100 Continue`. */
  wasAnswered(): boolean
  finish(): Promise<void>
}

/** Waits until the server has seen everything sent before, by a later request that has been answered. */
async function awaitProcessing(me: Visitor): Promise<void> {
  await me.request('PUT', '/api/upload')
}

/** Sends half of an upload, or only its headers if it awaits `100 Continue`. */
async function beginUpload(me: Visitor, { awaitsContinue = false } = {}): Promise<PendingUpload> {
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
