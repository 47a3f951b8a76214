/** However many requests come at once, the event loop has turns in between. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTurns, TURNS_FOR_ARRIVALS } from '../src/node/http/turns.ts'

const REQUESTS = 50

/** Long enough for a turn to end. */
function work(): void {
  const end = performance.now() + 10
  while (performance.now() < end);
}

describe('turns', () => {
  it('runs one request a turn of those that come later, in their order', async () => {
    const turns = createTurns()
    const ran: number[] = []
    for (let nth = 0; nth < REQUESTS; nth++) turns.later(() => ran.push(nth))
    assert.equal(ran.length, 0)
    for (let turn = 1; ran.length < REQUESTS; turn++) {
      await nextTurn()
      assert.ok(ran.length <= turn, `${ran.length} in ${turn} turns`)
    }
    assert.deepEqual(
      ran,
      Array.from({ length: REQUESTS }, (_, nth) => nth),
    )
  })

  it('takes what is added while one runs', async () => {
    const turns = createTurns()
    let ran = 0
    const again = (): void => {
      if (++ran < REQUESTS) turns.later(again)
    }
    turns.later(again)
    while (ran < REQUESTS) await nextTurn()
  })

  it('runs at once what comes to a turn that has been short, and else one a turn', async () => {
    const turns = createTurns()
    const ran: string[] = []
    const act = (name: string) => () => {
      ran.push(name)
      work()
    }
    for (const name of ['a', 'b', 'c']) turns.soon(act(name))
    assert.deepEqual(ran, ['a'])
    await nextTurn()
    turns.soon(act('d'))
    assert.ok(ran.length < 4, 'others have had a turn')
    while (ran.length < 4) await nextTurn()
    assert.equal(ran.filter((name) => name < 'd').join(''), 'abc')
    await nextTurn()
    turns.soon(act('e'))
    assert.equal(ran.at(-1), 'e')
  })

  it('lets connections that may wait to be accepted come first, but not for ever', async () => {
    let isLikely = true
    const turns = createTurns({ areLikely: () => isLikely })
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) turns.soon(() => ran.push(name))
    for (let turn = 0; turn < TURNS_FOR_ARRIVALS; turn++) {
      await nextTurn()
      assert.deepEqual(ran, [])
    }
    await nextTurn()
    assert.deepEqual(ran, ['a'])
    isLikely = false
    while (ran.length < 3) await nextTurn()
    assert.deepEqual(ran, ['a', 'b', 'c'])
  })

  it('does not let wait what nobody waits for any more', async () => {
    const turns = createTurns({ areLikely: () => true })
    const ran: string[] = []
    const client = { destroyed: false }
    for (const name of ['a', 'b', 'c']) turns.later(() => ran.push(name), client)
    turns.later(() => ran.push('d'))
    client.destroyed = true
    await nextTurn()
    assert.deepEqual(ran, ['a', 'b', 'c'])
    while (ran.length < 4) await nextTurn()
  })
})
