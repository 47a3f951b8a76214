/** Queues shared by several processes: each due entry goes to one of them, and to another if that process dies. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Call } from '../../support/processes/ledger-process.ts'
import type { Harness } from './harness.ts'
import { decision } from './new-decision.ts'

const NOW = 1_790_000_000_000
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

type Claimed = { id: string; kind?: string; attempts?: number }

interface Outbox {
  /** Adds an entry that is due at `at`. */
  add(id: string, at: number): Call
  claim(limit: number, now: number): Call
  /** Calls that settle all of these entries. */
  settle(claimed: Claimed[]): Call[]
  /** Calls that defer all of these entries. */
  defer(claimed: Claimed[], retryAt: number): Call[]
  /** Never hands out entries before they are due, even if they are due implausibly late. */
  trustsDueTimes?: boolean
  /** A claim takes all due entries, as there are only a few. */
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
    trustsDueTimes: true,
  },
  scans: {
    add: (id, at) => ['recordScan', { id, at, dueAt: at, isHidden: false }],
    claim: (limit, now) => ['claimScans', limit, now, LEASE_MS],
    settle: (claimed) => claimed.map((entry) => ['endScan', entry, 'passed']),
    defer: (claimed, retryAt) => claimed.map((entry) => ['deferScan', entry, retryAt]),
  },
  decisions: {
    add: (id, at) => [
      'addDecisions',
      decision({ batch: id, act: 'keep', dueAt: at }),
      [{ id, isVisible: true }],
    ],
    claim: (limit, now) => ['claimDecisions', limit, now, LEASE_MS],
    settle: (claimed) => claimed.map((entry) => ['finishDecision', entry]),
    defer: (claimed, retryAt) => claimed.map((entry) => ['deferDecision', entry, retryAt]),
    trustsDueTimes: true,
  },
  notices: {
    add: (kind, at) => ['raiseAlert', `of ${kind}`, new Date(at), { raises: kind, pause: null }],
    claim: (_, now) => ['claimNotices', now, LEASE_MS],
    settle: (claimed) => claimed.map((entry) => ['settleNotice', entry, NOW, NOW]),
    defer: (claimed, retryAt) => claimed.map((entry) => ['deferNotice', entry, retryAt]),
    isUnlimited: true,
  },
}

function callOn(ledger: Ledger, [method, ...args]: Call): Promise<unknown> {
  return (ledger[method] as (...args: unknown[]) => Promise<unknown>)(...args)
}

const idsOf = (claimed: Claimed[]) => claimed.map(({ id, kind = id }) => kind).sort()

export function outboxesCases(harness: Harness): void {
  for (const [name, outbox] of Object.entries(OUTBOXES)) describe(name, () => casesOf(outbox, harness))
  describe('processes', () => processCases(harness))
}

function casesOf({ isUnlimited = false, trustsDueTimes = false, ...outbox }: Outbox, { on }: Harness): void {
  const callAll = async (ledger: Ledger, calls: Call[]) => {
    for (const call of calls) await callOn(ledger, call)
  }
  const add = (ledger: Ledger, ids: string[], at = NOW) =>
    callAll(
      ledger,
      ids.map((id) => outbox.add(id, at)),
    )
  const claim = async (ledger: Ledger, now: number, limit = 10) =>
    (await callOn(ledger, outbox.claim(limit, now))) as Claimed[]
  const settle = (ledger: Ledger, claimed: Claimed[]) => callAll(ledger, outbox.settle(claimed))
  const defer = (ledger: Ledger, claimed: Claimed[], retryAt: number) =>
    callAll(ledger, outbox.defer(claimed, retryAt))

  on('is empty at first', async (ledger) => {
    assert.deepEqual(await claim(ledger, NOW), [])
    await settle(ledger, [])
    await defer(ledger, [], NOW)
  })

  on('hands out due entries once', async (ledger, { another }) => {
    const other = await another()
    for (const [index, id] of ['D', 'A', 'C', 'B'].entries()) await add(ledger, [id], NOW + index)
    assert.deepEqual(await claim(other, NOW - 1), [])
    if (!isUnlimited) {
      assert.deepEqual(await claim(ledger, NOW + 2, 0), [])
      assert.deepEqual(await claim(ledger, NOW + 2, -1), [])
      assert.deepEqual(idsOf(await claim(ledger, NOW + 2, 2)), ['A', 'D'], 'longest due first')
    } else assert.deepEqual(idsOf(await claim(ledger, NOW + 1)), ['A', 'D'])
    assert.deepEqual(idsOf(await claim(other, NOW + 2)), ['C'])
    assert.deepEqual(await claim(ledger, NOW + 2), [])
    assert.deepEqual(idsOf(await claim(ledger, NOW + 3)), ['B'])
  })

  on(
    'hands out an entry again after the lease; the stale claim has no effect',
    async (ledger, { another }) => {
      await add(ledger, ['A'])
      const stale = await claim(ledger, NOW)
      const other = await another()
      assert.deepEqual(await claim(other, NOW + LEASE_MS - 1), [])
      assert.deepEqual(idsOf(await claim(other, NOW + LEASE_MS)), ['A'])
      await defer(ledger, stale, NOW)
      assert.deepEqual(await claim(ledger, NOW + LEASE_MS + 1), [])
      await settle(ledger, stale)
      const last = await claim(ledger, NOW + 2 * LEASE_MS)
      assert.deepEqual(idsOf(last), ['A'])
      await settle(other, last)
      assert.deepEqual(await claim(ledger, NOW + 9 * LEASE_MS), [])
    },
  )

  on('defers failed entries, and forgets settled ones', async (ledger) => {
    await add(ledger, ['A', 'B'])
    const claimed = await claim(ledger, NOW)
    const isDone = (entry: Claimed) => idsOf([entry])[0] === 'A'
    await settle(ledger, claimed.filter(isDone))
    await defer(
      ledger,
      claimed.filter((entry) => !isDone(entry)),
      NOW + 500,
    )
    assert.deepEqual(await claim(ledger, NOW + 499), [])
    const again = await claim(ledger, NOW + 500)
    assert.deepEqual(idsOf(again), ['B'])
    assert.equal(again[0]?.attempts ?? 1, 1, 'if failures are counted')
  })

  on('hands out entries deferred by a clock that was a day ahead', async (ledger, { another }) => {
    await add(ledger, ['A', 'B'], NOW + DAY_MS)
    const abandoned = await claim(ledger, NOW + DAY_MS, 1)
    assert.ok(abandoned.length > 0)
    const other = await another()
    assert.deepEqual(idsOf(await claim(other, NOW)), trustsDueTimes ? [] : ['A', 'B'])
    assert.deepEqual(await claim(ledger, NOW), [])
  })

  on('distributes many entries among several handles without duplicates', async (ledger, { another }) => {
    const ids = Array.from({ length: 60 }, (_, index) => `id-${index}`).sort()
    await add(ledger, ids)
    const handles = [ledger, await another(), await another()]
    const claimed: Claimed[] = []
    const work = async (handle: Ledger) => {
      for (let batch = await claim(handle, NOW, 7); batch.length > 0; batch = await claim(handle, NOW, 7)) {
        if (!isUnlimited) assert.ok(batch.length <= 7)
        claimed.push(...batch)
        await settle(handle, batch)
      }
    }
    await Promise.all(handles.map(work))
    assert.deepEqual(idsOf(claimed), ids)
    assert.deepEqual(await claim(ledger, NOW + 9 * LEASE_MS, 1000), [])
  })
}

/** All outboxes run the same statements, so one stands for all. */
function processCases({ onHooks }: Harness): void {
  const { add, claim } = OUTBOXES.purges!
  const claimed = async (ledger: Ledger, now: number, limit = 10) =>
    idsOf((await callOn(ledger, claim(limit, now))) as Claimed[])

  onHooks(['process'], 'hands out each entry to one process', async (ledger, { process }) => {
    const ids = Array.from({ length: 60 }, (_, index) => `id-${index}`).sort()
    for (const id of ids) await callOn(ledger, add(id, NOW))
    const processes = await Promise.all([process(), process()])
    const calls = Array.from({ length: 10 }, () => claim(2, NOW))
    const byProcesses = (await Promise.all(processes.map((child) => child.call(calls)))).flat(2) as Claimed[]
    assert.equal(byProcesses.length, 40)
    assert.deepEqual([...idsOf(byProcesses), ...(await claimed(ledger, NOW, 1000))].sort(), ids)
  })

  onHooks(['process'], 'hands out entries claimed by a killed process again', async (ledger, { process }) => {
    const child = await process()
    await child.call([add('A', NOW)])
    assert.deepEqual(idsOf((await child.call([claim(10, NOW)]))[0] as Claimed[]), ['A'])
    await child.kill()
    assert.deepEqual(await claimed(ledger, NOW), [])
    assert.deepEqual(await claimed(ledger, NOW + LEASE_MS), ['A'])
  })
}
