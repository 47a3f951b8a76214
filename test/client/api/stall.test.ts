import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchForStall } from '../../../src/client/api/transport.ts'

test('reports a stall after 45 s without progress, but not after the exchange ended', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const faults: string[] = []
  const watch = watchForStall((fault) => faults.push(fault.message))
  t.mock.timers.tick(44_999)
  watch.touch()
  t.mock.timers.tick(44_999)
  assert.equal(faults.length, 0)
  t.mock.timers.tick(1)
  assert.match(faults[0]!, /stalled for 45 s/)
  const ended = watchForStall((fault) => faults.push(fault.message))
  ended.stop()
  ended.touch()
  t.mock.timers.tick(100_000)
  assert.equal(faults.length, 1)
})
