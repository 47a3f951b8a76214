/** The engine against workers that the test plays itself: hung, lost, cancelled, worn. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createEngine } from '../../../src/client/compress/engine.ts'
import type { EngineHost } from '../../../src/client/worker/host.ts'
import type { Reply, Request } from '../../../src/client/worker/messages.ts'
import type { Inspection } from '../../../src/formats/image.ts'
import { gif } from '../../support/images/tiny-images.ts'

interface PlayedWorker {
  requests: Request[]
  reply(reply: Reply): void
  die(): void
  busy: boolean
  ended: boolean
}

function playedHost(settings: Partial<EngineHost> = {}) {
  const workers: PlayedWorker[] = []
  const host: EngineHost = {
    maxWorkers: 2,
    memoryIsSmall: false,
    sendable: async (blob) => blob,
    startWorker({ onReply, onLost }) {
      const worker: PlayedWorker = {
        requests: [],
        reply: onReply,
        die: () => onLost(new Error('gone')),
        busy: false,
        ended: false,
      }
      workers.push(worker)
      return {
        post: (request) => worker.requests.push(request),
        setBusy: (busy) => {
          worker.busy = busy
        },
        terminate: () => {
          worker.ended = true
        },
      }
    },
    ...settings,
  }
  return { host, workers }
}

const FILE = new Blob([new Uint8Array(1000)])
const inspected = (megapixels = 1): Reply => {
  const segments = [{ offset: 100, length: 900 }]
  const inspection: Inspection = {
    type: 'image/jpeg',
    width: 1000 * megapixels,
    height: 1000,
    animated: false,
    hasLocation: true,
    segments,
  }
  return { kind: 'inspected', inspection }
}
const recompressed = (): Extract<Reply, { kind: 'recompressed' }> => ({
  kind: 'recompressed',
  bytes: new Uint8Array(300),
  type: 'image/jpeg',
  action: 'lossy',
})
/** Lets promises settle. Timers may be mocked. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

function mockTimers(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  return t.mock.timers
}

test('a worker that hangs in a codec is ended, and the file goes out without its metadata', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  workers[0]!.reply(inspected(4))
  // Fetching codecs over a bad connection is not the file's fault.
  timers.tick(100_000)
  workers[0]!.reply({ kind: 'working' })
  timers.tick(10_000 + 4 * 3000 - 1)
  await settle()
  assert.equal(workers[0]!.ended, false)
  timers.tick(1)
  const result = await pending
  assert.equal(workers[0]!.ended, true)
  assert.deepEqual([result.action, result.fallback, result.bytesOut], ['scrubbed', 'timed-out', 900])
})

test('on a machine that decodes ten times slower, a codec may take ten times longer', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  workers[0]!.reply(inspected(4))
  workers[0]!.reply({ kind: 'working' })
  workers[0]!.reply({ kind: 'decoded', milliseconds: 10 * (20 + 4 * 25) })
  timers.tick(10 * (10_000 + 4 * 3000) - 1)
  await settle()
  assert.equal(workers[0]!.ended, false)
  timers.tick(1)
  assert.equal((await pending).fallback, 'timed-out')
})

test('what a worker had finished stands when it hangs, dies or breaks in the next codec', async (t) => {
  const timers = mockTimers(t)
  for (const end of ['hangs', 'dies', 'breaks'] as const) {
    const { host, workers } = playedHost()
    const pending = createEngine(host).compress(FILE)
    await settle()
    workers[0]!.reply(inspected())
    workers[0]!.reply({ kind: 'working' })
    workers[0]!.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
    if (end === 'hangs') timers.tick(13_000)
    if (end === 'dies') workers[0]!.die()
    if (end === 'breaks') workers[0]!.reply({ kind: 'scrubbed', fallback: 'codec-error' })
    const { type, action, bytesOut, fallback } = await pending
    assert.deepEqual([type, action, bytesOut, fallback], ['image/webp', 'lossless', 300, undefined], end)
    assert.equal(workers[0]!.ended, true, end)
  }
})

test('a better result than the one in hand takes its place', async () => {
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  workers[0]!.reply(inspected())
  workers[0]!.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
  workers[0]!.reply(recompressed())
  assert.equal((await pending).type, 'image/jpeg')
})

test('a worker whose script takes long to come is waited for; its look at the file is not', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  const failed = assert.rejects(pending, /took too long/)
  await settle()
  timers.tick(100_000)
  await settle()
  assert.equal(workers[0]!.ended, false)
  workers[0]!.reply({ kind: 'ready' })
  timers.tick(10_001)
  await failed
  assert.equal(workers[0]!.ended, true)
})

test('a worker that dies in a codec costs the recompression only', async () => {
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  workers[0]!.reply({ kind: 'ready' })
  workers[0]!.reply(inspected())
  workers[0]!.die()
  const { action, fallback, blob, hasLocation } = await pending
  assert.deepEqual([action, fallback, blob.size, hasLocation], ['scrubbed', 'codec-error', 900, true])
})

test('a worker that dies of a file before it knows it is an error, not an upload', async () => {
  const { host, workers } = playedHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  workers[0]!.reply({ kind: 'ready' })
  workers[0]!.die()
  await assert.rejects(pending, Error)
})

test('where no worker starts, files are inspected on the spot and scrubbed', async () => {
  const picture = new Blob([new Uint8Array(gif())])
  const throwing = playedHost({
    startWorker() {
      throw new Error('blocked')
    },
  })
  const dying = playedHost()
  for (const { host, workers } of [throwing, dying]) {
    const pending = createEngine(host).compress(picture)
    await settle()
    workers[0]?.die()
    const { type, action, blob } = await pending
    assert.deepEqual([type, action, blob.size], ['image/gif', 'unchanged', picture.size])
    const junk = createEngine(host).compress(FILE)
    const refused = assert.rejects(junk, { code: 'unsupported-type' })
    await settle()
    workers[1]?.die()
    await refused
  }
})

test('cancelling ends the worker at any stage, and the next file gets a new one', async () => {
  const { host, workers } = playedHost({ maxWorkers: 1 })
  const engine = createEngine(host)
  const reason = new Error('changed my mind')
  for (const stage of ['started', 'inspected'] as const) {
    const stop = new AbortController()
    const pending = engine.compress(FILE, { signal: stop.signal })
    await settle()
    if (stage === 'inspected') workers.at(-1)!.reply(inspected())
    stop.abort(reason)
    await assert.rejects(pending, reason)
    assert.equal(workers.at(-1)!.ended, true)
  }
  await assert.rejects(engine.compress(FILE, { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(workers.length, 2)
})

test('files beyond the workers wait their turn, and may leave the queue', async () => {
  const { host, workers } = playedHost()
  const engine = createEngine(host)
  const stop = new AbortController()
  const [first, second] = [engine.compress(FILE), engine.compress(FILE)]
  const third = engine.compress(FILE, { signal: stop.signal })
  const fourth = engine.compress(FILE)
  await settle()
  assert.equal(workers.length, 2)
  stop.abort(new Error('no'))
  await assert.rejects(third, /no/)
  for (const worker of workers) {
    worker.reply(inspected())
    worker.reply(recompressed())
  }
  assert.equal((await first).bytesOut, 300)
  assert.equal((await second).action, 'lossy')
  await settle()
  assert.equal(workers.length, 2)
  const again = workers.find(({ requests }) => requests.length === 2)!
  again.reply(inspected())
  again.reply({ kind: 'scrubbed' })
  assert.equal((await fourth).action, 'scrubbed')
})

test('a worker is replaced after a large job, after many, after a codec error, and when it idles', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = playedHost()
  const engine = createEngine(host)
  const run = async (megapixels: number, last: Reply = recompressed()) => {
    const pending = engine.compress(FILE)
    await settle()
    const worker = workers.at(-1)!
    worker.reply(inspected(megapixels))
    worker.reply(last)
    await pending
    return worker
  }
  assert.equal((await run(17)).ended, true)
  const steady = await run(16)
  assert.deepEqual([steady.ended, steady.busy], [false, false])
  for (let i = 0; i < 3; i++) assert.equal((await run(16)).ended, false)
  assert.equal((await run(1)).ended, true)
  assert.equal(workers.length, 2)
  assert.equal((await run(1, { kind: 'scrubbed', fallback: 'codec-error' })).ended, true)
  const idle = await run(1)
  timers.tick(14_999)
  assert.equal(idle.ended, false)
  timers.tick(1)
  assert.equal(idle.ended, true)
})

test('prepare warms one worker up, which the first file then uses', async () => {
  const { host, workers } = playedHost()
  const engine = createEngine(host)
  engine.prepare()
  engine.prepare()
  assert.deepEqual(
    workers.map(({ requests }) => requests),
    [[{ kind: 'prepare' }]],
  )
  const pending = engine.compress(FILE)
  await settle()
  assert.equal(workers.length, 1)
  workers[0]!.reply(inspected())
  workers[0]!.reply(recompressed())
  await pending
})

test('a refusal and a fault of a worker keep their words', async () => {
  const { host, workers } = playedHost()
  const engine = createEngine(host)
  const refused = engine.compress(FILE)
  await settle()
  workers[0]!.reply({ kind: 'refused', code: 'damaged-image', detail: 'It is cut off.' })
  await assert.rejects(refused, { name: 'Refusal', code: 'damaged-image', detail: 'It is cut off.' })
  const failed = engine.compress(FILE)
  await settle()
  workers[0]!.reply({ kind: 'failed', message: 'NotReadableError' })
  await assert.rejects(failed, /can't be read: NotReadableError/)
})

test('arguments that make no sense start no worker', async () => {
  const { host, workers } = playedHost()
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
