/** Worker threads of Node. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { createNodeHost } from '../../../src/client/worker/node-host.ts'

it('survives an error that was on its way when the worker was terminated', async () => {
  const started = once(process, 'worker')
  const handle = createNodeHost().startWorker({ onReply() {}, onLost: () => assert.fail('nobody waits') })
  const [worker] = (await started) as [Worker]
  handle.terminate()
  worker.emit('error', new Error('out of memory'))
  await once(worker, 'exit')
})
