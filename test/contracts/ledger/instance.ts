import assert from 'node:assert/strict'
import { fakeIds } from '../../support/ids.ts'
import type { Harness } from './harness.ts'

const RATE = { intervalMs: 1000, burst: 3 }
const NOW = 1_790_000_000_000

export function instanceCases({ on }: Harness): void {
  on('writes facts once, or replaces them if asked to', async (ledger, { another }) => {
    assert.deepEqual(await ledger.facts(), {})
    assert.deepEqual(await ledger.writeFacts({ a: '1', b: '2' }, { replace: false }), { a: '1', b: '2' })
    const other = await another()
    assert.deepEqual(await other.writeFacts({ b: '3', c: '4' }, { replace: false }), {
      a: '1',
      b: '2',
      c: '4',
    })
    assert.deepEqual(await other.writeFacts({ b: '3' }, { replace: true }), { a: '1', b: '3', c: '4' })
    await ledger.check()
    assert.deepEqual(await ledger.facts(), { a: '1', b: '3', c: '4' }, 'a check adds no fact')
  })

  on('lets one of several concurrent writers set a fact', async (_, { another }) => {
    const handles = await Promise.all([another(), another(), another()])
    const seen = await Promise.all(
      handles.map((handle, index) => handle.writeFacts({ who: `${index}`, one: 'x' }, { replace: false })),
    )
    assert.equal(new Set(seen.map(({ who }) => who)).size, 1)
  })

  on(
    'runs `ifFirst` only while no other server has joined, or never if the ledger can’t tell',
    async (ledger, { another }) => {
      const ran: string[] = []
      await ledger.join(async () => void ran.push('first'))
      const canTell = ran.length > 0
      // Commands use a handle without joining.
      await (await another()).writeFacts({ a: '1' }, { replace: false })
      const twin = await another()
      await twin.join(async () => void ran.push('twin'))
      await ledger.close()
      const third = await another()
      await third.join(async () => void ran.push('third'))
      assert.deepEqual(ran, canTell ? ['first'] : [], 'the twin was running all the time')
      await Promise.all([twin.close(), third.close()])
      await (await another()).join(async () => void ran.push('after all others'))
      assert.deepEqual(ran, canTell ? ['first', 'after all others'] : [])
    },
  )

  on('agrees on one set of facts when servers join concurrently', async (_, { another }) => {
    const handles = await Promise.all([another(), another(), another(), another()])
    const seen = await Promise.all(
      handles.map(async (handle, index) => {
        await handle.join(async () => {
          await handle.writeFacts({ who: `${index}` }, { replace: true })
        })
        return handle.writeFacts({ who: `${index}` }, { replace: false })
      }),
    )
    assert.equal(new Set(seen.map(({ who }) => who)).size, 1)
    assert.equal((await handles[0]!.facts()).who, seen[0]!.who, 'not changed afterwards')
  })

  on('returns the time of the shared clock, or null without one', async (ledger) => {
    const before = Date.now()
    const time = await ledger.time()
    // The database of the tests runs on this machine.
    assert.ok(time === null || (time >= before - 1000 && time <= Date.now() + 1000), `${time}`)
  })

  on('allows a burst of tokens, then one per interval', async (ledger, { concurrently }) => {
    const taken = await concurrently(10, (handle) => handle.takeTokens('x', NOW, RATE))
    assert.equal(taken.filter((wait) => wait === 0).length, 3)
    for (const wait of taken.filter((each) => each > 0)) assert.equal(wait, 1000)
    assert.equal(await ledger.takeTokens('y', NOW, RATE), 0, 'each name has its own bucket')
    assert.equal(await ledger.takeTokens('x', NOW + 400, RATE), 600)
    assert.equal(await ledger.takeTokens('x', NOW + 1000, RATE), 0)
    assert.equal(await ledger.takeTokens('x', NOW + 1000, RATE), 1000)
    const later = NOW + 60_000
    for (const expected of [0, 0, 0, 1000]) {
      assert.equal(
        await ledger.takeTokens('x', later, RATE),
        expected,
        'a pause accumulates no more than a burst',
      )
    }
  })

  on('takes several tokens at once, or none', async (ledger) => {
    assert.equal(await ledger.takeTokens('x', NOW, RATE, 2), 0)
    assert.equal(await ledger.takeTokens('x', NOW, RATE, 2), 1000)
    assert.equal(await ledger.takeTokens('x', NOW, RATE), 0, 'the remaining token')
    assert.equal(await ledger.takeTokens('x', NOW + 2000, RATE, 2), 0)
    assert.equal(await ledger.takeTokens('x', NOW + 2000, RATE), 1000)
  })

  on('blocks a bucket until the given time', async (ledger) => {
    await ledger.blockTokens('x', NOW + 30_000, RATE)
    await ledger.blockTokens('x', NOW + 5000, RATE)
    assert.equal(await ledger.takeTokens('x', NOW, RATE), 30_000)
    assert.equal(await ledger.takeTokens('x', NOW + 30_000, RATE), 0)
  })

  on('recovers when a clock that was a day ahead is corrected', async (ledger) => {
    const ahead = NOW + 86_400_000
    for (let index = 0; index < 3; index++) assert.equal(await ledger.takeTokens('x', ahead, RATE), 0)
    await ledger.blockTokens('y', ahead + 30_000, RATE)
    for (const name of ['x', 'y']) {
      for (const expected of [0, 0, 0, 1000]) assert.equal(await ledger.takeTokens(name, NOW, RATE), expected)
    }
    await ledger.blockTokens('x', NOW + 3_600_000, RATE)
    assert.equal(
      await ledger.takeTokens('x', NOW, RATE),
      3_600_000,
      'the maximum that a provider may ask for',
    )
  })

  on('lists removed and deleted images in pages', async (ledger) => {
    const at = new Date(NOW)
    const ids = fakeIds(25)
    for (const [index, id] of ids.entries()) {
      if (index % 2) await ledger.recordDeletion(id, at)
      else await ledger.recordRemoval(id, 'terms', at)
    }
    await ledger.recordDeletion(ids[0]!, at)
    await ledger.recordDeletion(ids[1]!, at)
    const found: string[] = []
    for (let page: string[]; ; found.push(...page)) {
      page = await ledger.removedIds(found.at(-1) ?? '', 4)
      if (page.length === 0) break
    }
    assert.deepEqual(found, [...ids].sort())
  })
}
