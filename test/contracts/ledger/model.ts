import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Purge } from '../../../src/stores/purges.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const START = 1_790_000_000_000

type Step =
  | { step: 'reserve'; bucket: string; limit: number }
  | { step: 'release'; bucket: string }
  | { step: 'enqueue'; id: string; fillMs: number }
  | { step: 'claim'; limit: number; leaseMs: number }
  | { step: 'settle' | 'defer'; claim: number }
  | { step: 'wait'; ms: number }

/** A pending purge, as the port describes it. */
interface PendingPurge {
  since: number
  dueAt: number
  fillEndsAt: number
  attempts: number
  /** Index of the valid claim. */
  claimedBy: number | null
}

interface Model {
  now: number
  used: Map<string, number>
  pending: Map<string, PendingPurge>
  /** Purges returned by each claim. */
  claims: Purge[][]
}

// Few values, so that random steps interact.
const bucket = fc.constantFrom('a', 'b')
const id = fc.constantFrom('A', 'B', 'C', 'D')
const ms = fc.integer({ min: 0, max: 40 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ step: fc.constant('reserve' as const), bucket, limit: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('release' as const), bucket }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('enqueue' as const), id, fillMs: ms }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('claim' as const), limit: fc.nat(4), leaseMs: ms }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constantFrom('settle' as const, 'defer' as const), claim: fc.nat(9) }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('wait' as const), ms }) },
)

export function modelCases({ open }: Harness, runs: number): void {
  test('matches the model for random sequences of steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const under = await open()
        const handles = [await under.open(), await under.open()]
        try {
          const model: Model = { now: START, used: new Map(), pending: new Map(), claims: [] }
          for (const [index, each] of steps.entries()) {
            await run(each, handles[index % 2]!, model)
            const since = [...model.pending.values()].map((purge) => purge.since)
            assert.deepEqual(await handles[0]!.pendingPurges(), {
              count: since.length,
              oldest: since.length > 0 ? Math.min(...since) : null,
            })
          }
          for (const [name, used] of model.used) assert.equal(await handles[1]!.usedUploads(name, DAY), used)
        } finally {
          await Promise.all(handles.map((handle) => handle.close()))
          await under.destroy()
        }
      }),
      { numRuns: runs },
    )
  })
}

async function run(each: Step, ledger: Ledger, model: Model): Promise<void> {
  switch (each.step) {
    case 'wait':
      model.now += each.ms
      return
    case 'reserve': {
      const used = model.used.get(each.bucket) ?? 0
      const granted = used < each.limit ? used + 1 : null
      assert.equal(await ledger.reserveUpload(each.bucket, DAY, each.limit), granted)
      if (granted !== null) model.used.set(each.bucket, granted)
      return
    }
    case 'release':
      await ledger.releaseUpload(each.bucket, DAY)
      model.used.set(each.bucket, Math.max(0, (model.used.get(each.bucket) ?? 0) - 1))
      return
    case 'enqueue': {
      const fillEndsAt = model.now + each.fillMs
      await ledger.enqueuePurge(each.id, fillEndsAt, model.now)
      const purge = model.pending.get(each.id)
      model.pending.set(each.id, {
        since: purge?.since ?? model.now,
        dueAt: model.now,
        fillEndsAt: Math.max(fillEndsAt, purge?.fillEndsAt ?? 0),
        attempts: purge?.attempts ?? 0,
        claimedBy: null,
      })
      return
    }
    case 'claim':
      return claim(each.limit, each.leaseMs, ledger, model)
    case 'settle':
    case 'defer':
      return report(each.step, each.claim, ledger, model)
  }
}

async function claim(limit: number, leaseMs: number, ledger: Ledger, model: Model): Promise<void> {
  const claimed = await ledger.claimPurges(limit, model.now, leaseMs)
  const due = [...model.pending.values()].filter((purge) => purge.dueAt <= model.now)
  assert.equal(claimed.length, Math.min(limit, due.length))
  const times = due.map((purge) => purge.dueAt).sort((a, b) => a - b)
  assert.deepEqual(
    claimed.map((purge) => model.pending.get(purge.id)!.dueAt).sort((a, b) => a - b),
    times.slice(0, limit),
    'longest due first, without duplicates',
  )
  assert.equal(new Set(claimed.map((purge) => purge.id)).size, claimed.length)
  for (const { id, attempts, fillEndsAt } of claimed) {
    const purge = model.pending.get(id)!
    assert.deepEqual({ attempts, fillEndsAt }, { attempts: purge.attempts, fillEndsAt: purge.fillEndsAt })
    purge.dueAt = model.now + leaseMs
    purge.claimedBy = model.claims.length
  }
  model.claims.push(claimed)
}

async function report(how: 'settle' | 'defer', claim: number, ledger: Ledger, model: Model): Promise<void> {
  const purges = model.claims[claim]
  if (purges === undefined) return
  const retryAt = model.now + 7
  await (how === 'settle' ? ledger.settlePurges(purges, model.now) : ledger.deferPurges(purges, retryAt))
  for (const { id } of purges) {
    const purge = model.pending.get(id)
    if (purge === undefined || purge.claimedBy !== claim) continue
    purge.claimedBy = null
    if (how === 'defer') {
      purge.dueAt = retryAt
      purge.attempts += 1
    } else if (purge.fillEndsAt <= model.now) {
      model.pending.delete(id)
    } else {
      purge.dueAt = purge.fillEndsAt
    }
  }
}
