import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchTransport } from '../../../src/client/api/fetch.ts'
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

test('leaves no timer, which would keep a program running', async (t) => {
  const set = t.mock.method(globalThis, 'setTimeout')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  assert.equal((await fetchTransport({ method: 'GET', url: 'data:,answer' })).text, 'answer')
  const stopped = new Set(cleared.mock.calls.map(({ arguments: [timer] }) => timer))
  assert.ok(set.mock.callCount() > 0)
  for (const { result } of set.mock.calls) assert.ok(stopped.has(result))
})
