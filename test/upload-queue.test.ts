/** The upload queue, with a fake clock and a simulated quota. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import fc from 'fast-check'
import { extent } from './support/extent.ts'
import { createWorld, LIMITS, PLACES, STEP_MS } from './support/upload-queue-world.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('arrive' as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('leave' as const), who: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('store' as const), who: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('give-back' as const), who: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('elsewhere' as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('pass' as const), who: fc.nat(9) }) },
)

describe('the upload queue', () => {
  it('keeps order, limits and quotas for any mix of arrivals, aborts and slow bodies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120, size: 'max' }), async (steps) => {
        const world = createWorld()
        for (const { act, who } of steps) {
          const [reading, waiting] = [world.reading(), world.waiting()]
          const places = world.quota[who % 3]!
          if (act === 'arrive') world.arrive(who)
          else if (act === 'pass') await world.pass((who + 1) * STEP_MS)
          else if (act === 'leave') waiting[who % waiting.length]?.leave?.()
          else if (act !== 'elsewhere') {
            if (reading.length > 0) world.end(reading[who % reading.length]!, act === 'store')
          } else if (places.elsewhere > 0) {
            places.elsewhere--
            world.isBehindOthers = true
          } else if (places.stored + places.held < PLACES) places.elsewhere++
          await world.settle()
          world.check()
        }
        // All uploads end, so every waiting one gets a slot or a refusal.
        for (const places of world.quota) {
          places.stored += places.elsewhere
          places.elsewhere = 0
        }
        for (let steps = 0; world.reading().length + world.waiting().length > 0; steps++) {
          assert.ok(steps < 100, 'the queue drains')
          for (const upload of world.reading()) world.end(upload, true)
          await world.pass(STEP_MS)
        }
        world.isBehindOthers = false
        world.check()
        for (const upload of world.uploads) {
          assert.equal(upload.leave, null, 'all listeners are removed')
          if (upload.result === 'quota-exceeded') assert.equal(world.quota[upload.address]!.stored, PLACES)
          if (upload.result === 'busy') assert.ok(upload.endedAt - upload.arrivedAt <= LIMITS.waitMs)
        }
      }),
      { numRuns: extent(500, 60) },
    )
  })

  it('refuses for a used-up quota only when the outcome of earlier uploads is known', async () => {
    const world = createWorld()
    const many = Array.from({ length: 3 }, () => world.arrive(0))
    await world.settle()
    world.quota[0]!.stored = PLACES - 3
    const late = [world.arrive(0), world.arrive(0)]
    await world.pass(1000)
    assert.deepEqual(
      late.map(({ result }) => result),
      [null, null],
    )
    world.end(many[0]!, true)
    await world.settle()
    assert.deepEqual(
      late.map(({ turn, result }) => turn ?? result),
      [null, null],
    )
    world.end(many[1]!, false)
    await world.settle()
    assert.deepEqual([late[0]!.turn !== null, late[1]!.turn !== null], [true, false])
    world.end(many[2]!, true)
    world.end(late[0]!, true)
    await world.settle()
    assert.equal(late[1]!.result, 'quota-exceeded')
  })

  it('notices uploads that end in other processes', async () => {
    const world = createWorld()
    Object.assign(world.quota[0]!, { stored: PLACES - 2, elsewhere: 2 })
    const two = [world.arrive(0), world.arrive(0)]
    await world.pass(500)
    assert.deepEqual(
      two.map(({ result }) => result),
      [null, null],
    )
    Object.assign(world.quota[0]!, { stored: PLACES - 1, elsewhere: 0 })
    await world.pass(2000)
    assert.equal(world.reading()[0], two[0])
    world.end(two[0]!, true)
    await world.settle()
    assert.equal(two[1]!.result, 'quota-exceeded')
  })

  it('refuses an upload whose time runs out while it is tried in vain', async () => {
    const world = createWorld()
    const attempt = Promise.withResolvers<null>()
    let attempts = 0
    const client = { address: '0', network: '0', waitingBytes: 0, onDisconnect: () => () => {} }
    const upload = world.line.enter(client, async () => (attempts++ === 0 ? null : attempt.promise))
    await world.settle()
    await world.pass(LIMITS.waitMs)
    attempt.resolve(null)
    await assert.rejects(upload, { code: 'busy' })
  })

  it('serves addresses round robin: one with many uploads does not delay one with few', async () => {
    const world = createWorld({ uploadsAtOnce: 1, maxConcurrentReads: 2, waitMs: 1e6 })
    for (const address of [0, 0, 0, 0, 2, 2, 4]) {
      world.arrive(address)
      await world.settle()
    }
    while (world.reading().length > 0) {
      const [first] = world.reading()
      world.end(first!, true)
      await world.settle()
    }
    assert.deepEqual(world.had, [0, 2, 0, 4, 2, 0, 0])
  })

  it('has a free slot for a new address despite slow clients on hundreds of addresses or in one network', async () => {
    const limits = {
      uploadsAtOnce: 16,
      maxConcurrentReads: 512,
      maxWaitingPerAddress: 256,
      waitingBytes: 1e9,
    }
    const oneEach = createWorld({ ...limits })
    while (oneEach.quota.length < 5000) oneEach.quota.push({ held: 0, elsewhere: 0, stored: 0 })
    for (let index = 0; index < 250 * 16; index++) oneEach.arrive(index % 250, index % 250)
    await oneEach.settle()
    const newcomer = oneEach.arrive(4000, 4000)
    await oneEach.settle()
    assert.notEqual(newcomer.turn, null)
    const network = createWorld({ ...limits })
    while (network.quota.length < 5000) network.quota.push({ held: 0, elsewhere: 0, stored: 0 })
    for (let index = 0; index < 3000; index++) network.arrive(index, 0)
    await network.settle()
    const other = network.arrive(4000, 1)
    await network.settle()
    assert.notEqual(other.turn, null)
    assert.ok(network.reading().length < 512)
  })

  it('makes room for an address with few uploads by refusing the newest of the address with the most', async () => {
    const world = createWorld({ uploadsAtOnce: 1, maxWaitingPerAddress: 100 })
    const many = Array.from({ length: 21 }, () => world.arrive(0))
    const few = [world.arrive(2), world.arrive(2)]
    await world.settle()
    assert.equal(many.at(-1)!.result, 'busy')
    assert.deepEqual([few[0]!.turn !== null, few[1]!.result], [true, null])
    assert.deepEqual(
      many.slice(1, -1).map(({ result }) => result),
      Array(19).fill(null),
    )
    const more = world.arrive(0)
    await world.settle()
    assert.equal(more.result, 'busy', 'its own address has the most')
  })
})
