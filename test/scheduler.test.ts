/** The scheduler yields to the event loop between requests, however many arrive together. */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import {
  createReadSlots,
  createScheduler,
  READS_PER_TICK,
  TICKS_FOR_CONNECTIONS,
} from '../src/node/http/scheduler.ts'

const REQUESTS = 50

let now = 0
mock.method(performance, 'now', () => now)

/** Takes longer than a tick's budget. */
function work(): void {
  now += 10
}

describe('the fair scheduler', () => {
  it('runs each request once, in order, and deferred ones in a later tick', async () => {
    const scheduler = createScheduler()
    const ran: string[] = []
    scheduler.defer(() => ran.push('c'))
    scheduler.run(() => ran.push('a'))
    scheduler.run(() => ran.push('b'))
    scheduler.defer(() => ran.push('d'))
    assert.deepEqual(ran, ['a', 'b'])
    while (ran.length < 4) await nextTick()
    await nextTick()
    assert.deepEqual(ran, ['a', 'b', 'c', 'd'])
  })

  it('runs one deferred request per tick, in order', async () => {
    const scheduler = createScheduler()
    const ran: number[] = []
    for (let index = 0; index < REQUESTS; index++) scheduler.defer(() => ran.push(index))
    assert.equal(ran.length, 0)
    for (let tick = 1; ran.length < REQUESTS; tick++) {
      await nextTick()
      assert.ok(ran.length <= tick, `${ran.length} in ${tick} ticks`)
    }
    assert.deepEqual(
      ran,
      Array.from({ length: REQUESTS }, (_, index) => index),
    )
  })

  it('accepts requests deferred by a running one', async () => {
    const scheduler = createScheduler()
    let ran = 0
    const again = (): void => {
      if (++ran < REQUESTS) scheduler.defer(again)
    }
    scheduler.defer(again)
    while (ran < REQUESTS) await nextTick()
  })

  it('runs a request immediately in a short tick, and otherwise one per tick', async () => {
    const scheduler = createScheduler()
    const ran: string[] = []
    const act = (name: string) => () => {
      ran.push(name)
      work()
    }
    for (const name of ['a', 'b', 'c']) scheduler.run(act(name))
    assert.deepEqual(ran, ['a'])
    await nextTick()
    scheduler.run(act('d'))
    assert.ok(ran.length < 4, 'there was a tick in between')
    while (ran.length < 4) await nextTick()
    assert.equal(ran.filter((name) => name < 'd').join(''), 'abc')
    await nextTick()
    scheduler.run(act('e'))
    assert.equal(ran.at(-1), 'e')
  })

  it('gives priority to connections that may be waiting to be accepted, for a limited time', async () => {
    let isLikely = true
    const scheduler = createScheduler({ areLikely: () => isLikely })
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) scheduler.run(() => ran.push(name))
    for (let tick = 0; tick < TICKS_FOR_CONNECTIONS; tick++) {
      await nextTick()
      assert.deepEqual(ran, [])
    }
    await nextTick()
    assert.deepEqual(ran, ['a'])
    isLikely = false
    while (ran.length < 3) await nextTick()
    assert.deepEqual(ran, ['a', 'b', 'c'])
  })

  it('serves addresses round robin', async () => {
    const scheduler = createScheduler()
    const ran: string[] = []
    const client = (remoteAddress: string) => ({ destroyed: false, remoteAddress })
    for (const name of ['a1', 'a2', 'a3', 'a4']) scheduler.defer(() => ran.push(name), client('192.0.2.1'))
    for (const name of ['b1', 'b2']) scheduler.defer(() => ran.push(name), client('192.0.2.2'))
    while (ran.length < 6) await nextTick()
    assert.deepEqual(ran, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('runs requests of disconnected clients immediately', async () => {
    const scheduler = createScheduler({ areLikely: () => true })
    const ran: string[] = []
    const client = { destroyed: false }
    for (const name of ['a', 'b', 'c']) scheduler.defer(() => ran.push(name), client)
    scheduler.defer(() => ran.push('d'))
    client.destroyed = true
    await nextTick()
    assert.deepEqual(ran, ['a', 'b', 'c'])
    while (ran.length < 4) await nextTick()
  })
})

it('limits body reads per tick, in FIFO order', async () => {
  const nextRead = createReadSlots()
  const read: number[] = []
  for (let index = 0; index < 3 * READS_PER_TICK + 1; index++) {
    const turn = nextRead()
    if (turn === null) read.push(index)
    else void turn.then(() => read.push(index))
  }
  const perTick = [read.length]
  for (let tick = 1; tick < 5; tick++) {
    await nextTick()
    perTick.push(read.length)
  }
  const n = READS_PER_TICK
  assert.deepEqual(perTick, [n, 2 * n, 3 * n, 3 * n + 1, 3 * n + 1])
  assert.deepEqual(read, [...read.keys()])
  assert.equal(nextRead(), null)
})

it('queues further reads of a body behind waiting ones', async () => {
  const nextRead = createReadSlots()
  const reads = new Array<number>(2 * READS_PER_TICK).fill(0)
  await Promise.all(
    reads.map(async (_, index) => {
      while (reads[index]! < 10) {
        await nextRead()
        reads[index]!++
        assert.ok(reads[index]! - Math.min(...reads) <= 2, `${reads}`)
      }
    }),
  )
})
