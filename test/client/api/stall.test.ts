import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchForStall } from '../../../src/client/api/transport.ts'

test('a connection stalls when nothing moves for 45 s, and never after it ended', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const faults: string[] = []
  const watch = watchForStall((fault) => faults.push(fault.message))
  t.mock.timers.tick(44_999)
  watch.touch()
  t.mock.timers.tick(44_999)
  assert.equal(faults.length, 0)
  t.mock.timers.tick(1)
  assert.match(faults[0]!, /stood still for 45 s/)
  const ended = watchForStall((fault) => faults.push(fault.message))
  ended.stop()
  ended.touch()
  t.mock.timers.tick(100_000)
  assert.equal(faults.length, 1)
})
