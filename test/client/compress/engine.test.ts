/** The engine's worker pool: queueing, cancellation, replacement. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../../src/client/compress/engine.ts'
import type { Reply } from '../../../src/client/worker/messages.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { FILE, fakeHost, flushPromises, inspected, mockTimers, recompressed } from '../worker/fake-host.ts'

test('inspects files on the calling thread and scrubs them if no worker starts', async () => {
  const picture = new Blob([new Uint8Array(gif())])
  const throwing = fakeHost({
    startWorker() {
      throw new Error('blocked')
    },
  })
  const dying = fakeHost()
  for (const { host, workers } of [throwing, dying]) {
    const pending = createEngine(host).compress(picture)
    await flushPromises()
    workers[0]?.die()
    const { type, action, blob } = await pending
    assert.deepEqual([type, action, blob.size], ['image/gif', 'unchanged', picture.size])
    const junk = createEngine(host).compress(FILE)
    const refused = assert.rejects(junk, { code: 'unsupported-type' })
    await flushPromises()
    workers[1]?.die()
    await refused
  }
})

test('terminates the worker on cancellation at any stage, and starts a new one for the next file', async () => {
  const { host, workers } = fakeHost({ maxWorkers: 1 })
  const engine = createEngine(host)
  const reason = new Error('changed my mind')
  for (const stage of ['started', 'inspected'] as const) {
    const stop = new AbortController()
    const pending = engine.compress(FILE, { signal: stop.signal })
    await flushPromises()
    if (stage === 'inspected') workers.at(-1)!.reply(inspected())
    stop.abort(reason)
    await assert.rejects(pending, reason)
    assert.equal(workers.at(-1)!.isTerminated, true)
  }
  await assert.rejects(engine.compress(FILE, { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(workers.length, 2)
})

test('queues files when all workers are busy, and removes cancelled ones from the queue', async () => {
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  const stop = new AbortController()
  const [first, second] = [engine.compress(FILE), engine.compress(FILE)]
  const third = engine.compress(FILE, { signal: stop.signal })
  const fourth = engine.compress(FILE)
  await flushPromises()
  assert.equal(workers.length, 2)
  stop.abort(new Error('no'))
  await assert.rejects(third, /no/)
  for (const worker of workers) {
    worker.reply(inspected())
    worker.reply(recompressed())
  }
  assert.equal((await first).bytesOut, 300)
  assert.equal((await second).action, 'lossy')
  await flushPromises()
  assert.equal(workers.length, 2)
  const again = workers.find(({ requests }) => requests.length === 2)!
  again.reply(inspected())
  again.reply({ kind: 'scrubbed' })
  assert.equal((await fourth).action, 'scrubbed')
})

test('starts no waiting job that the signal of the running one cancels, too', async () => {
  const { host, workers } = fakeHost({ maxWorkers: 1 })
  const engine = createEngine(host)
  const reason = new Error('enough')
  const stop = new AbortController()
  const running = engine.compress(FILE, { signal: stop.signal })
  await flushPromises()
  const waiting = engine.compress(FILE, { signal: stop.signal })
  const cancelled = [running, waiting].map((pending) => assert.rejects(pending, reason))
  await flushPromises()
  stop.abort(reason)
  await flushPromises()
  assert.equal(workers.length, 1)
  await Promise.all(cancelled)
  const next = engine.compress(FILE)
  await flushPromises()
  assert.equal(workers.length, 2, 'its slot is free')
  workers[1]!.reply(inspected())
  workers[1]!.reply(recompressed())
  await next
})

test('replaces a worker after a large job or many jobs for codecs, after an error, and when idle', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  const run = async (megapixels: number, last: Reply = recompressed(), usesCodecs = true) => {
    const pending = engine.compress(FILE)
    await flushPromises()
    const worker = workers.at(-1)!
    worker.reply(inspected(megapixels))
    if (usesCodecs) worker.reply({ kind: 'working' })
    worker.reply(last)
    await pending
    return worker
  }
  assert.equal((await run(17)).isTerminated, true)
  const steady = await run(16)
  assert.deepEqual([steady.isTerminated, steady.busy], [false, false])
  for (let i = 0; i < 3; i++) assert.equal((await run(16)).isTerminated, false)
  assert.equal((await run(40, recompressed(), false)).isTerminated, false)
  assert.equal((await run(1)).isTerminated, true)
  assert.equal(workers.length, 2)
  assert.equal((await run(1, { kind: 'scrubbed', fallback: 'codec-error' })).isTerminated, true)
  const idle = await run(1)
  timers.tick(14_999)
  assert.equal(idle.isTerminated, false)
  timers.tick(1)
  assert.equal(idle.isTerminated, true)
})

test('prepare starts one worker, which the first file then uses', async () => {
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  engine.prepare({ codecs: false })
  assert.deepEqual(
    workers.map(({ requests }) => requests),
    [[]],
  )
  engine.prepare()
  assert.deepEqual(
    workers.map(({ requests }) => requests),
    [[{ kind: 'prepare', codecs: 'jpeg' }]],
  )
  const pending = engine.compress(FILE)
  await flushPromises()
  assert.equal(workers.length, 1)
  workers[0]!.reply(inspected())
  workers[0]!.reply(recompressed())
  await pending
})

test('keeps a prepared worker for a minute after the last call of prepare', (t) => {
  const timers = mockTimers(t)
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  engine.prepare({ codecs: false })
  timers.tick(59_999)
  engine.prepare({ codecs: false })
  timers.tick(59_999)
  assert.deepEqual([workers.length, workers[0]!.isTerminated, workers[0]!.busy], [1, false, false])
  timers.tick(1)
  assert.equal(workers[0]!.isTerminated, true)
})

test("rejects with the worker's refusal or error message", async () => {
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  const refused = engine.compress(FILE)
  await flushPromises()
  workers[0]!.reply({ kind: 'refused', code: 'damaged-image', detail: 'It is cut off.' })
  await assert.rejects(refused, { name: 'Refusal', code: 'damaged-image', detail: 'It is cut off.' })
  const failed = engine.compress(FILE)
  await flushPromises()
  workers[0]!.reply({ kind: 'failed', message: 'NotReadableError', isLoadFault: false })
  await assert.rejects(failed, { name: 'Error', message: 'NotReadableError' })
})

test('does not reuse a worker that could not load a script, and says that the file is not to blame', async () => {
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  const failed = engine.compress(FILE)
  await flushPromises()
  workers[0]!.reply({ kind: 'failed', message: 'Failed to fetch', isLoadFault: true })
  await assert.rejects(failed, { name: 'TypeError', message: 'Failed to fetch' })
  assert.equal(workers[0]!.isTerminated, true)
})

test('does not start a worker for invalid arguments', async () => {
  const { host, workers } = fakeHost()
  const engine = createEngine(host)
  await assert.rejects(engine.compress('a.jpg' as unknown as Blob), {
    name: 'TypeError',
    message: /openAsBlob/,
  })
  await assert.rejects(engine.compress(FILE, { mode: 'best' as 'auto' }), {
    name: 'TypeError',
    message: /mode/,
  })
  assert.equal(workers.length, 0)
})

test('rejects if no worker starts and the host requires one', async () => {
  const { host } = fakeHost({
    startWorker() {
      throw new Error('blocked')
    },
    noWorker() {
      throw new Error('The compression worker at /w/worker.js cannot start.')
    },
  })
  await assert.rejects(createEngine(host).compress(new Blob([new Uint8Array(gif())])), /\/w\/worker\.js/)
})

test('passes the current size limit to the worker with each request', async () => {
  let free = 5_000_000
  const { host, workers } = fakeHost({ maxPixels: () => free, maxWorkers: 1 })
  const engine = createEngine(host)
  for (const expected of [5_000_000, 1_000_000]) {
    free = expected
    const pending = engine.compress(FILE)
    await flushPromises()
    const request = workers[0]!.requests.at(-1)
    assert.equal(request?.kind === 'compress' && request.capabilities.maxPixels, expected)
    workers[0]!.reply(inspected())
    workers[0]!.reply(recompressed())
    await pending
  }
})
