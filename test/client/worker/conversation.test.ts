/** How long a worker is waited for, and what stands when it is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../../src/client/compress/engine.ts'
import { FILE, inspected, mockTimers, playedHost, recompressed, settle } from './played-host.ts'

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
