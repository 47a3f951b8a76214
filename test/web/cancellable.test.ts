import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { SendOptions, Sent } from '../../src/client/types.ts'
import { cancellable } from '../../src/web/browser/upload/cancellable.ts'

/** An upload whose every step waits for the test. */
function setUp() {
  const removed: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  let given: SendOptions = {}
  const send = cancellable({
    async send(_blob, options = {}) {
      given = options
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
      return promise
    },
    remove: async (key) => void removed.push(key),
  })
  const cancelling = new AbortController()
  const { signal } = cancelling
  const seen: string[] = []
  const outcome = send(new Blob(['x']), { signal, onProgress: ({ stage }) => seen.push(stage) }).then(
    () => 'sent',
    (error) => error.name,
  )
  return {
    removed,
    seen,
    outcome,
    cancel: () => cancelling.abort(),
    answer: () => resolve({ key: 'the key' } as Sent),
    left: (sentBytes: number) =>
      given.onProgress?.({ stage: 'uploading', sentBytes, totalBytes: 10, percent: 10 * sentBytes }),
    fail: () => given.onProgress?.({ stage: 'waiting', attempt: 1, seconds: 1, cause: new Error('lost') }),
    isStopped: () => given.signal?.aborted,
  }
}

test('what nobody cancels is sent', async () => {
  const { left, answer, outcome, removed, seen } = setUp()
  left(10)
  answer()
  assert.deepEqual([await outcome, removed, seen], ['sent', [], ['uploading']])
})

test('what is cancelled on the way is stopped at once', async () => {
  const { left, cancel, outcome, removed, isStopped } = setUp()
  left(9)
  cancel()
  assert.equal(isStopped(), true)
  assert.deepEqual([await outcome, removed], ['AbortError', []])
})

test('what is cancelled when all of it has left is deleted', async () => {
  const { left, cancel, answer, outcome, removed, isStopped } = setUp()
  left(10)
  cancel()
  await turn()
  assert.equal(isStopped(), false)
  answer()
  assert.deepEqual([await outcome, removed], ['AbortError', ['the key']])
})

test('what is cancelled is not sent a second time', async () => {
  const { left, fail, cancel, outcome, removed, isStopped } = setUp()
  left(10)
  cancel()
  fail()
  assert.equal(isStopped(), true)
  assert.deepEqual([await outcome, removed], ['AbortError', []])
})
