import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send, sendTo } from '../../../src/client/api/send.ts'
import { NetworkFault, type Transport } from '../../../src/client/api/transport.ts'
import { Refusal, ServerRefusal, Unreachable } from '../../../src/client/errors.ts'
import type { Progress } from '../../../src/client/types.ts'
import { checkerOf } from '../../../src/proof-of-work.ts'
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES } from '../../../src/protocol.ts'
import { fakeService, SENT } from './fake-service.ts'

const CREATED = { status: 201, headers: { 'X-RateLimit-Remaining': '99' }, body: SENT }
const blobOf = (bytes: number) => new Blob([new Uint8Array(bytes).fill(7)], { type: 'image/png' })
const problem = (status: number, error: string, headers?: Record<string, string>) => ({
  status,
  headers: { 'Content-Type': 'application/problem+json', ...headers },
  body: { type: 'about:blank', title: 'No', status, detail: `Because of ${error}.`, error },
})

test('sends one form field named file, and nothing that identifies the uploader', async () => {
  const service = await fakeService(CREATED)
  const sent = await sendTo(blobOf(5), {}, service.endpoint)
  assert.deepEqual(sent, { ...SENT, raw: 'https://pics.example/raw/abcdefghijk', remaining: 99 })
  const [{ method, url, headers, body } = assert.fail()] = service.requests
  assert.equal(`${method} ${url}`, 'POST /api/upload')
  assert.equal(headers['content-length'], String(body.length))
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type']! },
  }).formData()
  const [[name, file] = assert.fail(), ...others] = [...form]
  assert.equal(name, 'file')
  assert.deepEqual(others, [])
  assert.ok(file instanceof File)
  assert.equal(file.name, 'image.png')
  assert.equal(file.type, 'image/png')
  assert.deepEqual(await file.bytes(), new Uint8Array(5).fill(7))
})

test('sends the requested lifetime, and returns the expiry time if the service sends one', async () => {
  const expires = '2026-11-24T03:29:49Z'
  const service = await fakeService({ ...CREATED, body: { ...SENT, expires } }, CREATED)
  const sent = await sendTo(blobOf(5), { expires: '1d' }, service.endpoint)
  assert.equal(sent.expires, expires)
  assert.equal('expires' in (await sendTo(blobOf(5), { expires: 90 }, service.endpoint)), false)
  assert.deepEqual(
    service.requests.map(({ url }) => url),
    ['/api/upload?expires=1d', '/api/upload?expires=90'],
  )
  for (const wrong of [59, 31_536_001, 60.5, Number.NaN, -60, '2d', '60&x=1', null]) {
    await assert.rejects(sendTo(blobOf(5), { expires: wrong as never }, service.endpoint), TypeError)
  }
  assert.equal(service.requests.length, 2)
})

test('reports upload progress up to 100 %, then done', async () => {
  const service = await fakeService(CREATED)
  const reports: Progress[] = []
  await sendTo(blobOf(1_000_000), { onProgress: (progress) => reports.push(progress) }, service.endpoint)
  const percents = reports.flatMap((report) => (report.stage === 'uploading' ? [report.percent] : []))
  assert.equal(percents[0], 0)
  assert.equal(percents.at(-1), 100)
  assert.ok(percents.length > 5, `${percents}`)
  assert.deepEqual(
    percents,
    percents.toSorted((a, b) => a - b),
  )
  assert.deepEqual(reports.at(-1), { stage: 'done' })
})

test('retries with backoff after a closed connection, a lost response, 408, 500, 502 and 503', async () => {
  for (const fault of [
    'cut',
    'lose the reply',
    { status: 408 },
    { status: 500 },
    { status: 502, body: '<html>' },
    problem(503, 'unavailable'),
  ] as const) {
    const service = await fakeService(fault, fault, CREATED)
    const waits: Progress[] = []
    const onProgress = (progress: Progress) => progress.stage === 'waiting' && waits.push(progress)
    assert.equal((await sendTo(blobOf(70_000), { onProgress }, service.endpoint)).id, SENT.id)
    assert.equal(service.requests.length, 3)
    assert.deepEqual(service.slept, [1, 2])
    assert.deepEqual(
      waits.map((wait) => wait.stage === 'waiting' && [wait.attempt, wait.seconds]),
      [
        [2, 1],
        [3, 2],
      ],
    )
  }
})

test('gives up after the given number of retries, and reports the number of attempts', async () => {
  const service = await fakeService('cut', 'cut', 'cut')
  const failed = { name: 'Unreachable', attempts: 3, message: /3 attempts/ }
  await assert.rejects(sendTo(blobOf(5), { retries: 2 }, service.endpoint), failed)
  assert.equal(service.requests.length, 3)
})

test('rejects with the last ServerRefusal when the server keeps failing', async () => {
  const service = await fakeService(problem(503, 'unavailable'), problem(503, 'unavailable'))
  const failed = {
    name: 'ServerRefusal',
    status: 503,
    code: 'unavailable',
    detail: 'Because of unavailable.',
  }
  await assert.rejects(sendTo(blobOf(5), { retries: 1 }, service.endpoint), failed)
})

test('does not retry after a refusal', async () => {
  for (const refusal of [
    problem(413, 'file-too-large'),
    problem(415, 'unsupported-type'),
    problem(422, 'damaged-image'),
    problem(403, 'blocked-image'),
    problem(429, 'quota-exceeded', { 'Retry-After': '40000' }),
    problem(429, 'quota-exceeded'),
    problem(503, 'uploads-paused'),
    problem(507, 'storage-full'),
  ]) {
    const service = await fakeService(refusal)
    await assert.rejects(sendTo(blobOf(5), {}, service.endpoint), (error) => {
      assert.ok(error instanceof ServerRefusal && error instanceof Refusal)
      assert.equal(error.code, refusal.body.error)
      assert.equal(error.detail, refusal.body.detail)
      assert.deepEqual(error.problem, refusal.body)
      return true
    })
    assert.equal(service.requests.length, 1)
  }
})

test('waits as long as Retry-After or the problem details ask, and rejects at once if that is over a minute', async () => {
  const busy = (retryAfter: unknown) => {
    const answer = problem(503, 'busy')
    return { ...answer, body: { ...answer.body, retryAfter } }
  }
  const inHalfAMinute = new Date(Date.now() + 30_000).toUTCString()
  for (const [answer, min, max] of [
    [problem(429, 'quota-exceeded', { 'Retry-After': '7' }), 7, 7],
    [problem(503, 'unavailable', { 'Retry-After': inHalfAMinute }), 20, 30],
    [busy(5), 5, 5],
    [busy('soon'), 1, 1],
  ] as const) {
    const service = await fakeService(answer, CREATED)
    await sendTo(blobOf(5), {}, service.endpoint)
    const [seconds = 0, ...others] = service.slept
    assert.ok(seconds >= min && seconds <= max && others.length === 0, `${service.slept}`)
  }
  for (const [answer, retryAfterSeconds] of [
    [problem(503, 'unavailable', { 'Retry-After': '61' }), 61],
    [busy(4000), 4000],
  ] as const) {
    const service = await fakeService(answer)
    const refused = { name: 'ServerRefusal', retryAfterSeconds }
    await assert.rejects(sendTo(blobOf(5), {}, service.endpoint), refused)
    assert.deepEqual(service.slept, [])
  }
})

test("rejects with the signal's reason when cancelled before, during or between attempts", async () => {
  const before = await fakeService()
  const reason = new Error('changed my mind')
  await assert.rejects(sendTo(blobOf(5), { signal: AbortSignal.abort(reason) }, before.endpoint), reason)

  const during = await fakeService('hang')
  const stop = new AbortController()
  const pending = sendTo(blobOf(5), { signal: stop.signal }, during.endpoint)
  setTimeout(() => stop.abort(reason), 20)
  await assert.rejects(pending, reason)

  const between = await fakeService('cut')
  const later = new AbortController()
  const onProgress = ({ stage }: Progress) => stage === 'waiting' && later.abort(reason)
  await assert.rejects(sendTo(blobOf(5), { signal: later.signal, onProgress }, between.endpoint), reason)
  assert.equal(between.requests.length, 1)
})

test('sends 25 MiB, and refuses one byte more or an invalid key without a request', async () => {
  const service = await fakeService(CREATED)
  await sendTo(blobOf(26_214_400), {}, service.endpoint)
  await assert.rejects(sendTo(blobOf(26_214_401), {}, service.endpoint), {
    name: 'Refusal',
    code: 'file-too-large',
  })
  await assert.rejects(sendTo(blobOf(6), { maxBytes: 5 }, service.endpoint), {
    code: 'file-too-large',
    message: 'The image has 6 bytes. The limit is 5.',
  })
  for (const idempotencyKey of ['short', 'ä'.repeat(22), 'x'.repeat(256)])
    await assert.rejects(sendTo(blobOf(6), { idempotencyKey }, service.endpoint), TypeError)
  assert.equal(service.requests.length, 1)
})

test('sends an image again without its preview if both are too large', async () => {
  const tooLarge = { status: 413, body: '<html>' }
  const service = await fakeService(tooLarge, CREATED, tooLarge, tooLarge)
  const options = { preview: blobOf(9) }
  assert.equal((await sendTo(blobOf(50), options, service.endpoint)).id, SENT.id)
  const [first, second] = service.requests.map(({ body }) => body.length)
  assert.equal(first! - second!, FRAME_HEAD_BYTES + 9 + FRAME_FOOT_BYTES)
  await assert.rejects(sendTo(blobOf(50), options, service.endpoint), { status: 413 })
  await assert.rejects(
    sendTo(blobOf(5), { preview: new Uint8Array(9) as never }, service.endpoint),
    TypeError,
  )
})

test('throws a TypeError for an invalid or missing baseUrl', async () => {
  for (const baseUrl of ['pics.example', 'ftp://pics.example']) {
    await assert.rejects(send(blobOf(5), { baseUrl }), TypeError)
  }
  await assert.rejects(send(blobOf(5)), TypeError)
})

test('uses one idempotency key per upload, the same for all attempts', async () => {
  const service = await fakeService('lose the reply', 'cut', problem(503, 'unavailable'), CREATED, CREATED)
  await sendTo(blobOf(5), {}, service.endpoint)
  await sendTo(blobOf(5), {}, service.endpoint)
  const keys = service.requests.map(({ headers }) => headers['idempotency-key'])
  for (const key of keys) assert.match(String(key), /^[A-Za-z0-9+/]{24}$/)
  assert.equal(new Set(keys.slice(0, 4)).size, 1)
  assert.notEqual(keys[4], keys[3], 'another upload has another key')
})

test('uses the given idempotency key', async () => {
  const service = await fakeService(CREATED)
  await sendTo(blobOf(5), { idempotencyKey: 'my-own-name-of-22-chars' }, service.endpoint)
  assert.equal(service.requests[0]!.headers['idempotency-key'], 'my-own-name-of-22-chars')
})

test('stops retrying 60 s after a complete body was sent, but not if it was never complete', async () => {
  const lost = await fakeService(...Array.from({ length: 20 }, () => 'lose the reply' as const))
  await assert.rejects(sendTo(blobOf(5), { retries: 19 }, lost.endpoint), Unreachable)
  // 1 + 2 + 4 + 8 + 16 + 32 s: the last wait ends after 60 s.
  assert.equal(lost.requests.length, 6)

  const broken = await fakeService(CREATED)
  let attempts = 0
  const transport: Transport = (exchange) => {
    if (++attempts === 10) return broken.endpoint.transport(exchange)
    exchange.onSent?.(4, 5)
    return Promise.reject(new NetworkFault('cut in the middle'))
  }
  const sent = await sendTo(blobOf(5), { retries: 9 }, { ...broken.endpoint, transport })
  assert.equal(sent.id, SENT.id)
  assert.ok(broken.endpoint.clock.now() > 120_000)
})

test('an answer that the upload was not looked at does not count as the start of those 60 s', async () => {
  const busy = problem(503, 'busy')
  const service = await fakeService(busy, busy, CREATED)
  // Each attempt takes more than a minute.
  const clock = { ...service.endpoint.clock, now: () => service.requests.length * 61_000 }
  assert.equal((await sendTo(blobOf(5), {}, { ...service.endpoint, clock })).id, SENT.id)

  const lost = await fakeService('lose the reply', { ...busy, body: { ...busy.body, retryAfter: 60 } })
  await assert.rejects(sendTo(blobOf(5), {}, lost.endpoint), { code: 'busy' })
  assert.equal(lost.requests.length, 2, 'the first one may be stored')
})

test('stops retrying when the device was offline for longer than 60 s', async () => {
  const service = await fakeService('lose the reply')
  let offlineMs = 0
  const online = async () => {
    offlineMs += 61_000
  }
  const clock = { ...service.endpoint.clock, now: () => offlineMs, online }
  await assert.rejects(sendTo(blobOf(5), {}, { ...service.endpoint, clock }), Unreachable)
  assert.equal(service.requests.length, 1)
})

const EASY = {
  token: 'upload-challenge.a.b',
  algorithm: 'PBKDF2-SHA-256',
  iterations: 1,
  bits: 3,
  answers: 2,
  expires: '2026-11-24T03:29:49Z',
}
const challenged = (challenge: unknown) => {
  const refused = problem(403, 'challenge-required')
  return { ...refused, body: { ...refused.body, challenge } }
}

test('solves a challenge, and requests further challenges ahead of uploads', async () => {
  const service = await fakeService(
    challenged(EASY),
    CREATED,
    { status: 200, body: { ...EASY, token: 'another' } },
    CREATED,
    { status: 204 },
    CREATED,
    CREATED,
  )
  for (let i = 0; i < 4; i++) await sendTo(blobOf(5), {}, service.endpoint)
  const requests = service.requests.map(({ method, url, headers }) => {
    const solution = headers['challenge-solution'] as string | undefined
    return [`${method} ${url}`, solution?.split(':')[0]]
  })
  assert.deepEqual(requests, [
    ['POST /api/upload', undefined],
    ['POST /api/upload', EASY.token],
    ['GET /api/challenge', undefined],
    ['POST /api/upload', 'another'],
    ['GET /api/challenge', undefined],
    ['POST /api/upload', undefined],
    ['POST /api/upload', undefined],
  ])
  const [first, second] = service.requests
  assert.equal(first!.headers['idempotency-key'], second!.headers['idempotency-key'])
  const counters = (second!.headers['challenge-solution'] as string).split(':')[1]!.split(',').map(Number)
  assert.equal(counters.length, EASY.answers)
  const isAnswer = await checkerOf(EASY)
  for (const [i, counter] of counters.entries()) assert.equal(await isAnswer(i, counter), true)
  assert.deepEqual(service.slept, [], 'a challenge is not a failed attempt')
})

test('refuses repeated, malformed and too expensive challenges', async () => {
  const again = await fakeService(challenged(EASY), challenged(EASY), challenged(EASY))
  const refused = { name: 'ServerRefusal', code: 'challenge-required' }
  await assert.rejects(sendTo(blobOf(5), {}, again.endpoint), refused)
  assert.equal(again.requests.length, 3)
  for (const wrong of [
    undefined,
    null,
    'x',
    {},
    { ...EASY, iterations: 2 ** 40 },
    { ...EASY, bits: 31 },
    { ...EASY, iterations: 1_000_000, bits: 20 },
    { ...EASY, answers: 1e9 },
    { ...EASY, bits: 0 },
    { ...EASY, token: 'a\r\nX: y' },
    { ...EASY, algorithm: 'none' },
  ]) {
    const service = await fakeService(challenged(wrong))
    await assert.rejects(sendTo(blobOf(5), {}, service.endpoint), ServerRefusal)
    assert.equal(service.requests.length, 1)
  }
})

test('stops solving a challenge when cancelled', async () => {
  const service = await fakeService(challenged({ ...EASY, bits: 26 }))
  const cancel = new AbortController()
  const sending = sendTo(blobOf(5), { signal: cancel.signal }, service.endpoint)
  setTimeout(() => cancel.abort(new Error('enough')), 50)
  await assert.rejects(sending, /enough/)
})
