import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Unreachable } from '../../src/client/errors.ts'
import type { SendOptions, Sent } from '../../src/client/types.ts'
import { cancellable } from '../../src/web/browser/upload/cancellable.ts'

/** An upload that the test advances step by step. */
function setUp() {
  const removed: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  let sendOptions: SendOptions = {}
  const send = cancellable({
    async send(_blob, options = {}) {
      sendOptions = options
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
      return promise
    },
    remove: async (key) => void removed.push(key),
  })
  const controller = new AbortController()
  const { signal } = controller
  const outcome = send(new Blob(['x']), { signal }).then(
    () => 'sent',
    (error) => error.name,
  )
  return {
    removed,
    outcome,
    cancel: () => controller.abort(),
    respond: () => resolve({ key: 'the key' } as Sent),
    progressTo: (sentBytes: number) =>
      sendOptions.onProgress?.({ stage: 'uploading', sentBytes, totalBytes: 10, percent: 10 * sentBytes }),
    fail: () =>
      sendOptions.onProgress?.({ stage: 'waiting', attempt: 1, seconds: 1, cause: new Error('lost') }),
    isStopped: () => sendOptions.signal?.aborted,
  }
}

test('aborts immediately when cancelled before all bytes are sent', async () => {
  const { progressTo, cancel, outcome, removed, isStopped } = setUp()
  progressTo(9)
  cancel()
  assert.equal(isStopped(), true)
  assert.deepEqual([await outcome, removed], ['AbortError', []])
})

test('deletes the stored image when cancelled after all bytes were sent', async () => {
  const { progressTo, cancel, respond, outcome, removed, isStopped } = setUp()
  progressTo(10)
  cancel()
  await turn()
  assert.equal(isStopped(), false)
  respond()
  assert.deepEqual([await outcome, removed], ['AbortError', ['the key']])
})

test('does not retry after cancellation', async () => {
  const { progressTo, fail, cancel, outcome, removed, isStopped } = setUp()
  progressTo(10)
  cancel()
  fail()
  assert.equal(isStopped(), true)
  assert.deepEqual([await outcome, removed], ['AbortError', []])
})

test('reports a file that has changed on disk as unreadable, not the service as unreachable', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'pinhole-web-')), 'photo.jpg')
  await writeFile(path, 'before')
  const changed = await openAsBlob(path)
  await writeFile(path, 'afterwards')
  const send = cancellable({
    send: async () => {
      throw new Unreachable(1, new Error('the connection failed'))
    },
    remove: async () => {},
  })
  await assert.rejects(send(changed), { name: 'NotReadableError' })
  await assert.rejects(send(new Blob(['x'])), { name: 'Unreachable' })
})
