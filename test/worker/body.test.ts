/** Request bodies of Workers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readBody } from '../../src/worker/body.ts'
import { LIMITS } from '../../src/worker/limits.ts'

it('drains a body that stalls for no longer than the time for it', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] })
  let isCancelled = false
  const stalled = new ReadableStream({
    cancel() {
      isCancelled = true
    },
  })
  const init = { method: 'POST', body: stalled, duplex: 'half' }
  const request = new Request('https://pics.example', init as RequestInit)
  void readBody(request, LIMITS, () => {}).drain(LIMITS.drainBytes)
  t.mock.timers.tick(LIMITS.drainMs)
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  assert.ok(isCancelled)
})
