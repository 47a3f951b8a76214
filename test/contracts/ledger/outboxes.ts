/** Queues that several processes work off: what is due goes to one of them, and to another if that one dies. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Call } from '../../support/processes/ledger-process.ts'
import type { Harness } from './harness.ts'

const NOW = 1_790_000_000_000
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

type Claimed = { id: string; kind?: string; attempts?: number }

interface Outbox {
  /** Puts something under an id into it, due at `at`. */
  add(id: string, at: number): Call
  claim(limit: number, now: number): Call
  /** Calls that settle all of these, or put them off. */
  settle(claimed: Claimed[]): Call[]
  defer(claimed: Claimed[], retryAt: number): Call[]
  /** What is due later than anything waits is not taken before. */
  isNeverEarly?: boolean
  /** It has so few entries that a claim takes all that are due. */
  isUnlimited?: boolean
}

const OUTBOXES: Record<string, Outbox> = {
  purges: {
    add: (id, at) => ['enqueuePurge', id, at, at],
    claim: (limit, now) => ['claimPurges', limit, now, LEASE_MS],
    settle: (claimed) => [['settlePurges', claimed, NOW + DAY_MS]],
    defer: (claimed, retryAt) => [['deferPurges', claimed, retryAt]],
  },
  expiries: {
    add: (id, at) => ['recordExpiries', [{ id, expiresAt: at }]],
    claim: (limit, now) => ['claimExpiries', limit, now, LEASE_MS],
    settle: (claimed) => [['settleExpiries', claimed]],
    defer: (claimed, retryAt) => [['deferExpiries', claimed, retryAt]],
    isNeverEarly: true,
  },
  scans: {
    add: (id, at) => ['recordScan', { id, at, isHidden: false }],
    claim: (limit, now) => ['claimScans', limit, now, LEASE_MS],
    settle: (claimed) => claimed.map((one) => ['endScan', one, 'passed']),
    defer: (claimed, retryAt) => claimed.map((one) => ['deferScan', one, retryAt]),
  },
  decisions: {
    add(id, at) {
      const facts = { batch: id, act: 'keep', block: false, reason: 'x', who: 'ann', rule: '', at: NOW }
      return ['addDecisions', { ...facts, dueAt: at }, [{ id, isVisible: true }]]
    },
    claim: (limit, now) => ['claimDecisions', limit, now, LEASE_MS],
    settle: (claimed) => claimed.map((one) => ['finishDecision', one]),
    defer: (claimed, retryAt) => claimed.map((one) => ['deferDecision', one, retryAt]),
    isNeverEarly: true,
  },
  notices: {
    add: (kind, at) => ['raiseAlert', `of ${kind}`, new Date(at), { raises: kind, pause: null }],
    claim: (_, now) => ['claimNotices', now, LEASE_MS],
    settle: (claimed) => claimed.map((one) => ['settleNotice', one, NOW, NOW]),
    defer: (claimed, retryAt) => claimed.map((one) => ['deferNotice', one, retryAt]),
    isUnlimited: true,
  },
}

function callOn(ledger: Ledger, [method, ...args]: Call): Promise<unknown> {
  return (ledger[method] as (...args: unknown[]) => Promise<unknown>)(...args)
}

const idsOf = (claimed: Claimed[]) => claimed.map(({ id, kind = id }) => kind).sort()

export function outboxesCases(harness: Harness): void {
  for (const [name, outbox] of Object.entries(OUTBOXES)) describe(name, () => casesOf(outbox, harness))
}

function casesOf(
  { isUnlimited = false, isNeverEarly = false, ...outbox }: Outbox,
  { on, onHooks }: Harness,
): void {
  const make = async (ledger: Ledger, calls: Call[]) => {
    for (const call of calls) await callOn(ledger, call)
  }
  const add = (ledger: Ledger, ids: string[], at = NOW) =>
    make(
      ledger,
      ids.map((id) => outbox.add(id, at)),
    )
  const claim = async (ledger: Ledger, now: number, limit = 10) =>
    (await callOn(ledger, outbox.claim(limit, now))) as Claimed[]
  const settle = (ledger: Ledger, claimed: Claimed[]) => make(ledger, outbox.settle(claimed))
  const defer = (ledger: Ledger, claimed: Claimed[], retryAt: number) =>
    make(ledger, outbox.defer(claimed, retryAt))

  on('has nothing at first', async (ledger) => {
    assert.deepEqual(await claim(ledger, NOW), [])
    await settle(ledger, [])
    await defer(ledger, [], NOW)
  })

  on('hands out what is due, once', async (ledger, { another }) => {
    const other = await another()
    for (const [nth, id] of ['D', 'A', 'C', 'B'].entries()) await add(ledger, [id], NOW + nth)
    assert.deepEqual(await claim(other, NOW - 1), [])
    if (!isUnlimited) {
      assert.deepEqual(await claim(ledger, NOW + 2, 0), [])
      assert.deepEqual(await claim(ledger, NOW + 2, -1), [])
      assert.deepEqual(idsOf(await claim(ledger, NOW + 2, 2)), ['A', 'D'], 'what is due longest')
    } else assert.deepEqual(idsOf(await claim(ledger, NOW + 1)), ['A', 'D'])
    assert.deepEqual(idsOf(await claim(other, NOW + 2)), ['C'])
    assert.deepEqual(await claim(ledger, NOW + 2), [])
    assert.deepEqual(idsOf(await claim(ledger, NOW + 3)), ['B'])
  })

  on(
    'hands it out again when the lease has ended; the earlier claim changes nothing',
    async (ledger, { another }) => {
      await add(ledger, ['A'])
      const slow = await claim(ledger, NOW)
      const other = await another()
      assert.deepEqual(await claim(other, NOW + LEASE_MS - 1), [])
      assert.deepEqual(idsOf(await claim(other, NOW + LEASE_MS)), ['A'])
      await defer(ledger, slow, NOW)
      assert.deepEqual(await claim(ledger, NOW + LEASE_MS + 1), [])
      await settle(ledger, slow)
      const last = await claim(ledger, NOW + 2 * LEASE_MS)
      assert.deepEqual(idsOf(last), ['A'])
      await settle(other, last)
      assert.deepEqual(await claim(ledger, NOW + 9 * LEASE_MS), [])
    },
  )

  on('puts off what could not be done, and forgets the rest', async (ledger) => {
    await add(ledger, ['A', 'B'])
    const claimed = await claim(ledger, NOW)
    const isDone = (one: Claimed) => idsOf([one])[0] === 'A'
    await settle(ledger, claimed.filter(isDone))
    await defer(
      ledger,
      claimed.filter((one) => !isDone(one)),
      NOW + 500,
    )
    assert.deepEqual(await claim(ledger, NOW + 499), [])
    const again = await claim(ledger, NOW + 500)
    assert.deepEqual(idsOf(again), ['B'])
    assert.equal(again[0]?.attempts ?? 1, 1, 'where failures are counted')
  })

  on(
    'hands out what a clock put off that was a day ahead, once that is right',
    async (ledger, { another }) => {
      await add(ledger, ['A', 'B'], NOW + DAY_MS)
      const dead = await claim(ledger, NOW + DAY_MS, 1)
      assert.ok(dead.length > 0)
      const other = await another()
      assert.deepEqual(idsOf(await claim(other, NOW)), isNeverEarly ? [] : ['A', 'B'])
      assert.deepEqual(await claim(ledger, NOW), [])
    },
  )

  on('gives each of many to one of several', async (ledger, { another }) => {
    const ids = Array.from({ length: 60 }, (_, nth) => `id-${nth}`).sort()
    await add(ledger, ids)
    const handles = [ledger, await another(), await another()]
    const claimed: Claimed[] = []
    const work = async (handle: Ledger) => {
      for (let some = await claim(handle, NOW, 7); some.length > 0; some = await claim(handle, NOW, 7)) {
        if (!isUnlimited) assert.ok(some.length <= 7)
        claimed.push(...some)
        await settle(handle, some)
      }
    }
    await Promise.all(handles.map(work))
    assert.deepEqual(idsOf(claimed), ids)
    assert.deepEqual(await claim(ledger, NOW + 9 * LEASE_MS, 1000), [])
  })

  onHooks(['process'], 'gives each to one process', async (ledger, { process }) => {
    const ids = Array.from({ length: 60 }, (_, nth) => `id-${nth}`).sort()
    await add(ledger, ids)
    const processes = await Promise.all([process(), process()])
    const calls = Array.from({ length: 10 }, () => outbox.claim(2, NOW))
    const given = (await Promise.all(processes.map((one) => one.call(calls)))).flat(2) as Claimed[]
    if (!isUnlimited) assert.equal(given.length, 40)
    assert.deepEqual(idsOf([...given, ...(await claim(ledger, NOW, 1000))]), ids)
  })

  onHooks(['process'], 'keeps what a killed process was about to do', async (ledger, { process }) => {
    const child = await process()
    await child.call([outbox.add('A', NOW)])
    assert.deepEqual(idsOf((await child.call([outbox.claim(10, NOW)]))[0] as Claimed[]), ['A'])
    await child.kill()
    assert.deepEqual(await claim(ledger, NOW), [])
    assert.deepEqual(idsOf(await claim(ledger, NOW + LEASE_MS)), ['A'])
  })
}
