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
  | { step: 'owe'; id: string; fillMs: number }
  | { step: 'claim'; limit: number; leaseMs: number }
  | { step: 'settle' | 'defer'; claim: number }
  | { step: 'wait'; ms: number }

/** What a debt is, in the port's own words. */
interface Debt {
  since: number
  dueAt: number
  fillEndsAt: number
  attempts: number
  /** The claim that holds it, by number. */
  heldBy: number | null
}

interface Model {
  now: number
  used: Map<string, number>
  debts: Map<string, Debt>
  /** What each claim was given. */
  claims: Purge[][]
}

// Few, so that random steps meet.
const bucket = fc.constantFrom('a', 'b')
const id = fc.constantFrom('A', 'B', 'C', 'D')
const ms = fc.integer({ min: 0, max: 40 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ step: fc.constant('reserve' as const), bucket, limit: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('release' as const), bucket }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('owe' as const), id, fillMs: ms }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('claim' as const), limit: fc.nat(4), leaseMs: ms }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constantFrom('settle' as const, 'defer' as const), claim: fc.nat(9) }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('wait' as const), ms }) },
)

export function modelCases({ open }: Harness, runs: number): void {
  test('behaves like its description, whatever the sequence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const under = await open()
        const handles = [await under.open(), await under.open()]
        try {
          const model: Model = { now: START, used: new Map(), debts: new Map(), claims: [] }
          for (const [nth, each] of steps.entries()) {
            await take(each, handles[nth % 2]!, model)
            const since = [...model.debts.values()].map((debt) => debt.since)
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

async function take(each: Step, ledger: Ledger, model: Model): Promise<void> {
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
    case 'owe': {
      const fillEndsAt = model.now + each.fillMs
      await ledger.enqueuePurge(each.id, fillEndsAt, model.now)
      const debt = model.debts.get(each.id)
      model.debts.set(each.id, {
        since: debt?.since ?? model.now,
        dueAt: model.now,
        fillEndsAt: Math.max(fillEndsAt, debt?.fillEndsAt ?? 0),
        attempts: debt?.attempts ?? 0,
        heldBy: null,
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
  const given = await ledger.claimPurges(limit, model.now, leaseMs)
  const due = [...model.debts].filter(([, debt]) => debt.dueAt <= model.now)
  assert.equal(given.length, Math.min(limit, due.length))
  const times = due.map(([, debt]) => debt.dueAt).sort((a, b) => a - b)
  assert.deepEqual(
    given.map((purge) => model.debts.get(purge.id)!.dueAt).sort((a, b) => a - b),
    times.slice(0, limit),
    'the longest due, each once',
  )
  assert.equal(new Set(given.map((purge) => purge.id)).size, given.length)
  for (const { id: claimed, attempts, fillEndsAt } of given) {
    const debt = model.debts.get(claimed)!
    assert.deepEqual({ attempts, fillEndsAt }, { attempts: debt.attempts, fillEndsAt: debt.fillEndsAt })
    debt.dueAt = model.now + leaseMs
    debt.heldBy = model.claims.length
  }
  model.claims.push(given)
}

async function report(how: 'settle' | 'defer', nth: number, ledger: Ledger, model: Model): Promise<void> {
  const purges = model.claims[nth]
  if (purges === undefined) return
  const retryAt = model.now + 7
  await (how === 'settle' ? ledger.settlePurges(purges, model.now) : ledger.deferPurges(purges, retryAt))
  for (const purge of purges) {
    const debt = model.debts.get(purge.id)
    if (debt === undefined || debt.heldBy !== nth) continue
    debt.heldBy = null
    if (how === 'defer') {
      debt.dueAt = retryAt
      debt.attempts += 1
    } else if (debt.fillEndsAt <= model.now) {
      model.debts.delete(purge.id)
    } else {
      debt.dueAt = debt.fillEndsAt
    }
  }
}
