/** Timeouts of a job, and its result when the worker is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../../src/client/compress/engine.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { FILE, fakeHost, flushPromises, inspected, mockTimers, recompressed } from './fake-host.ts'

/** A pending compression, and its worker. */
async function startJob() {
  const { host, workers } = fakeHost()
  const pending = createEngine(host).compress(FILE)
  await flushPromises()
  return { pending, worker: workers[0]! }
}

test('terminates a worker that hangs in a codec, and only scrubs the file', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await startJob()
  worker.reply(inspected(4))
  // Fetching codecs over a bad connection is not the file's fault.
  timers.tick(100_000)
  worker.reply({ kind: 'working' })
  timers.tick(10_000 + 4 * 3000 - 1)
  await flushPromises()
  assert.equal(worker.isTerminated, false)
  timers.tick(1)
  const result = await pending
  assert.equal(worker.isTerminated, true)
  assert.deepEqual([result.action, result.fallback, result.bytesOut], ['scrubbed', 'timed-out', 900])
})

test('allows a codec ten times longer on a machine that decodes ten times slower', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await startJob()
  worker.reply(inspected(4))
  worker.reply({ kind: 'working' })
  worker.reply({ kind: 'decoded', milliseconds: 10 * (20 + 4 * 25) })
  timers.tick(10 * (10_000 + 4 * 3000) - 1)
  await flushPromises()
  assert.equal(worker.isTerminated, false)
  timers.tick(1)
  assert.equal((await pending).fallback, 'timed-out')
})

test('keeps the interim result when the worker then hangs, dies or fails', async (t) => {
  const timers = mockTimers(t)
  for (const end of ['hangs', 'dies', 'fails'] as const) {
    const { pending, worker } = await startJob()
    worker.reply(inspected())
    worker.reply({ kind: 'working' })
    worker.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
    if (end === 'hangs') timers.tick(13_000)
    if (end === 'dies') worker.die()
    if (end === 'fails') worker.reply({ kind: 'scrubbed', fallback: 'codec-error' })
    const { type, action, bytesOut, fallback } = await pending
    assert.deepEqual([type, action, bytesOut, fallback], ['image/webp', 'lossless', 300, undefined], end)
    assert.equal(worker.isTerminated, true, end)
  }
})

test('replaces an interim result with a better one', async () => {
  const { pending, worker } = await startJob()
  worker.reply(inspected())
  worker.reply({ ...recompressed(), kind: 'interim', type: 'image/webp', action: 'lossless' })
  worker.reply(recompressed())
  assert.equal((await pending).type, 'image/jpeg')
})

test('waits for a slow download of the worker script, but not for a slow inspection', async (t) => {
  const timers = mockTimers(t)
  const { pending, worker } = await startJob()
  const failed = assert.rejects(pending, /took too long/)
  timers.tick(100_000)
  await flushPromises()
  assert.equal(worker.isTerminated, false)
  worker.reply({ kind: 'ready' })
  timers.tick(30_000)
  await failed
  assert.equal(worker.isTerminated, true)
})

test('inspects the file on this thread when the worker script does not arrive in two minutes', async (t) => {
  const timers = mockTimers(t)
  const { host, workers } = fakeHost()
  const pending = createEngine(host).compress(new Blob([new Uint8Array(gif())]))
  await flushPromises()
  timers.tick(120_000)
  assert.equal((await pending).action, 'unchanged')
  assert.equal(workers[0]!.isTerminated, true)
})

test('still scrubs the file when the worker dies in a codec', async () => {
  const { pending, worker } = await startJob()
  worker.reply({ kind: 'ready' })
  worker.reply(inspected())
  worker.die()
  const { action, fallback, blob, hasLocation } = await pending
  assert.deepEqual([action, fallback, blob.size, hasLocation], ['scrubbed', 'codec-error', 900, true])
})

test('rejects when the worker dies while inspecting the file', async () => {
  const { pending, worker } = await startJob()
  worker.reply({ kind: 'ready' })
  worker.die()
  await assert.rejects(pending, Error)
})
