/** The pool of compression workers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createPool } from '../../../src/client/worker/pool.ts'
import { fakeHost } from './fake-host.ts'

it('hands a released worker to the job that has waited longest, and starts no further one', async () => {
  const { host, workers } = fakeHost({ maxWorkers: 1 })
  const pool = createPool(host)
  const first = await pool.lease()
  const order: string[] = []
  const second = pool.lease().then((lease) => {
    order.push('second')
    return lease
  })
  await nextTick()
  first.release(1)
  const third = pool.lease().then((lease) => {
    order.push('third')
    return lease
  })
  ;(await second).release(1)
  ;(await third).release('end')
  assert.deepEqual(order, ['second', 'third'])
  assert.equal(workers.length, 1)
})

it('frees the place in the queue of a job that is cancelled while it waits', async () => {
  const { host } = fakeHost({ maxWorkers: 1 })
  const pool = createPool(host)
  const first = await pool.lease()
  const cancel = new AbortController()
  const cancelled = pool.lease(cancel.signal)
  const next = pool.lease()
  cancel.abort(new Error('cancelled'))
  await assert.rejects(cancelled, /cancelled/)
  first.release('end')
  ;(await next).release('end')
})
