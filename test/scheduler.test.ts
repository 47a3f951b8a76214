/** However many requests come at once, the event loop has ticks in between. */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  createReadSlots,
  createScheduler,
  READS_PER_TICK,
  TICKS_FOR_CONNECTIONS,
  unfairScheduler,
} from '../src/node/http/scheduler.ts'

const REQUESTS = 50

let now = 0
mock.method(performance, 'now', () => now)

/** Longer than a tick's budget. */
function work(): void {
  now += 10
}

for (const [name, create] of [
  ['fair', createScheduler],
  ['unfair', () => unfairScheduler],
] as const) {
  it(`the ${name} scheduler runs each once, in order; what is deferred in a later tick`, async () => {
    const scheduler = create()
    const ran: string[] = []
    scheduler.defer(() => ran.push('c'))
    scheduler.run(() => ran.push('a'))
    scheduler.run(() => ran.push('b'))
    scheduler.defer(() => ran.push('d'))
    assert.deepEqual(ran, ['a', 'b'])
    while (ran.length < 4) await nextTurn()
    await nextTurn()
    assert.deepEqual(ran, ['a', 'b', 'c', 'd'])
  })
}

describe('the fair scheduler', () => {
  it('runs one deferred request a tick, in order', async () => {
    const scheduler = createScheduler()
    const ran: number[] = []
    for (let nth = 0; nth < REQUESTS; nth++) scheduler.defer(() => ran.push(nth))
    assert.equal(ran.length, 0)
    for (let tick = 1; ran.length < REQUESTS; tick++) {
      await nextTurn()
      assert.ok(ran.length <= tick, `${ran.length} in ${tick} ticks`)
    }
    assert.deepEqual(
      ran,
      Array.from({ length: REQUESTS }, (_, nth) => nth),
    )
  })

  it('takes what is added while one runs', async () => {
    const scheduler = createScheduler()
    let ran = 0
    const again = (): void => {
      if (++ran < REQUESTS) scheduler.defer(again)
    }
    scheduler.defer(again)
    while (ran < REQUESTS) await nextTurn()
  })

  it('runs at once what comes to a tick that has been short, and else one a tick', async () => {
    const scheduler = createScheduler()
    const ran: string[] = []
    const act = (name: string) => () => {
      ran.push(name)
      work()
    }
    for (const name of ['a', 'b', 'c']) scheduler.run(act(name))
    assert.deepEqual(ran, ['a'])
    await nextTurn()
    scheduler.run(act('d'))
    assert.ok(ran.length < 4, 'others have had a tick')
    while (ran.length < 4) await nextTurn()
    assert.equal(ran.filter((name) => name < 'd').join(''), 'abc')
    await nextTurn()
    scheduler.run(act('e'))
    assert.equal(ran.at(-1), 'e')
  })

  it('lets connections that may wait to be accepted come first, but not for ever', async () => {
    let isLikely = true
    const scheduler = createScheduler({ areLikely: () => isLikely })
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) scheduler.run(() => ran.push(name))
    for (let tick = 0; tick < TICKS_FOR_CONNECTIONS; tick++) {
      await nextTurn()
      assert.deepEqual(ran, [])
    }
    await nextTurn()
    assert.deepEqual(ran, ['a'])
    isLikely = false
    while (ran.length < 3) await nextTurn()
    assert.deepEqual(ran, ['a', 'b', 'c'])
  })

  it('lets addresses take turns, whoever has asked for more', async () => {
    const scheduler = createScheduler()
    const ran: string[] = []
    const client = (remoteAddress: string) => ({ destroyed: false, remoteAddress })
    for (const name of ['a1', 'a2', 'a3', 'a4']) scheduler.defer(() => ran.push(name), client('192.0.2.1'))
    for (const name of ['b1', 'b2']) scheduler.defer(() => ran.push(name), client('192.0.2.2'))
    while (ran.length < 6) await nextTurn()
    assert.deepEqual(ran, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('does not let wait what nobody waits for any more', async () => {
    const scheduler = createScheduler({ areLikely: () => true })
    const ran: string[] = []
    const client = { destroyed: false }
    for (const name of ['a', 'b', 'c']) scheduler.defer(() => ran.push(name), client)
    scheduler.defer(() => ran.push('d'))
    client.destroyed = true
    await nextTurn()
    assert.deepEqual(ran, ['a', 'b', 'c'])
    while (ran.length < 4) await nextTurn()
  })
})

it('bodies are read a few a tick, first come, first served', async () => {
  const nextRead = createReadSlots()
  const read: number[] = []
  for (let nth = 0; nth < 3 * READS_PER_TICK + 1; nth++) {
    const turn = nextRead()
    if (turn === null) read.push(nth)
    else void turn.then(() => read.push(nth))
  }
  const perTick = [read.length]
  for (let tick = 1; tick < 5; tick++) {
    await nextTurn()
    perTick.push(read.length)
  }
  const n = READS_PER_TICK
  assert.deepEqual(perTick, [n, 2 * n, 3 * n, 3 * n + 1, 3 * n + 1])
  assert.deepEqual(read, [...read.keys()])
  assert.equal(nextRead(), null)
})

it('bodies that ask again get their turn behind those that wait', async () => {
  const nextRead = createReadSlots()
  const pieces = new Array<number>(2 * READS_PER_TICK).fill(0)
  await Promise.all(
    pieces.map(async (_, nth) => {
      while (pieces[nth]! < 10) {
        await nextRead()
        pieces[nth]!++
        assert.ok(pieces[nth]! - Math.min(...pieces) <= 2, `${pieces}`)
      }
    }),
  )
})
