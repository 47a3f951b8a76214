/** How long a worker is waited for, and what stands when it is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../../src/client/compress/engine.ts'
import { FILE, fakeHost, inspected, mockTimers, recompressed, settle } from './fake-host.ts'

/** A file's compression, and the worker that has it. */
async function begun() {
  const { host, workers } = fakeHost()
  const pending = createEngine(host).compress(FILE)
  await settle()
  return { pending, worker: workers[0]! }
}

test('a worker that hangs in a codec is ended, and the file goes out without its metadata', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await begun()
  worker.reply(inspected(4))
  // Fetching codecs over a bad connection is not the file's fault.
  timers.tick(100_000)
  worker.reply({ kind: 'working' })
  timers.tick(10_000 + 4 * 3000 - 1)
  await settle()
  assert.equal(worker.ended, false)
  timers.tick(1)
  const result = await pending
  assert.equal(worker.ended, true)
  assert.deepEqual([result.action, result.fallback, result.bytesOut], ['scrubbed', 'timed-out', 900])
})

test('on a machine that decodes ten times slower, a codec may take ten times longer', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await begun()
  worker.reply(inspected(4))
  worker.reply({ kind: 'working' })
  worker.reply({ kind: 'decoded', milliseconds: 10 * (20 + 4 * 25) })
  timers.tick(10 * (10_000 + 4 * 3000) - 1)
  await settle()
  assert.equal(worker.ended, false)
  timers.tick(1)
  assert.equal((await pending).fallback, 'timed-out')
})

test('what a worker had finished stands when it hangs, dies or breaks in the next codec', async (t) => {
  const timers = mockTimers(t)
  for (const end of ['hangs', 'dies', 'breaks'] as const) {
    const { pending, worker } = await begun()
    worker.reply(inspected())
    worker.reply({ kind: 'working' })
    worker.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
    if (end === 'hangs') timers.tick(13_000)
    if (end === 'dies') worker.die()
    if (end === 'breaks') worker.reply({ kind: 'scrubbed', fallback: 'codec-error' })
    const { type, action, bytesOut, fallback } = await pending
    assert.deepEqual([type, action, bytesOut, fallback], ['image/webp', 'lossless', 300, undefined], end)
    assert.equal(worker.ended, true, end)
  }
})

test('a better result than the one in hand takes its place', async () => {
  const { pending, worker } = await begun()
  worker.reply(inspected())
  worker.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
  worker.reply(recompressed())
  assert.equal((await pending).type, 'image/jpeg')
})

test('a worker whose script takes long to come is waited for; its look at the file is not', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await begun()
  const failed = assert.rejects(pending, /took too long/)
  timers.tick(100_000)
  await settle()
  assert.equal(worker.ended, false)
  worker.reply({ kind: 'ready' })
  timers.tick(10_001)
  await failed
  assert.equal(worker.ended, true)
})

test('a worker that dies in a codec costs the recompression only', async () => {
  const { pending, worker } = await begun()
  worker.reply({ kind: 'ready' })
  worker.reply(inspected())
  worker.die()
  const { action, fallback, blob, hasLocation } = await pending
  assert.deepEqual([action, fallback, blob.size, hasLocation], ['scrubbed', 'codec-error', 900, true])
})

test('a worker that dies of a file before it knows it is an error, not an upload', async () => {
  const { pending, worker } = await begun()
  worker.reply({ kind: 'ready' })
  worker.die()
  await assert.rejects(pending, Error)
})
