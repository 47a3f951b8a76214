/** When private data is erased, with clocks that are right and clocks that jump. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { UNSURE_MS } from '../src/service/expiry-clock.ts'
import { createForgetting, GRACE_MS } from '../src/service/forgetting.ts'
import { utcDayOf } from '../src/utc-day.ts'
import { extent } from './support/extent.ts'
import { gif } from './support/images/tiny-images.ts'
import { ledgerOf } from './support/ledger.ts'
import { startLocalServer } from './support/processes/local-server.ts'
import { report } from './support/report.ts'
import { until } from './support/until.ts'
import { post, store } from './support/upload.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOON = Date.parse('2026-07-31T12:00:00Z')

/** A ledger that is written to all day long, on a machine with settable real time and clock error. */
function machine() {
  let real = NOON
  let error = 0
  const days = new Set(['2026-07-30', '2026-07-31'])
  const forgetting = createForgetting({
    ledger: {
      async eraseDaysBefore(day, last) {
        for (const known of days) if (known < day || known > last!) days.delete(known)
      },
      forgetTagsBefore: async () => {},
    },
    now: () => real + error,
    steady: () => real - NOON,
    onFailure: (failure) => assert.fail(failure as Error),
  })
  return {
    isKept: (day: string) => days.has(day),
    kept: () => [...days],
    today: () => utcDayOf(real),
    setError: (ms: number) => {
      error = ms
    },
    /** Lets time pass, with a run every five minutes. */
    async pass(ms: number) {
      for (const end = real + ms; real < end; ) {
        days.add(utcDayOf(real + error))
        await forgetting.runOnce()
        real += 5 * MINUTE_MS
      }
      days.add(utcDayOf(real + error))
      await forgetting.runOnce()
    },
  }
}

describe('erasing a day', () => {
  it('happens half an hour after midnight', async () => {
    const { pass, isKept } = machine()
    await pass(12 * HOUR_MS + GRACE_MS - MINUTE_MS * 5)
    assert.ok(isKept('2026-07-31'), 'for uploads that began before midnight')
    await pass(5 * MINUTE_MS)
    assert.deepEqual([isKept('2026-07-31'), isKept('2026-08-01')], [false, true])
  })

  it('does not happen in the first hour of a process', async () => {
    const { pass, isKept } = machine()
    await pass(UNSURE_MS - 5 * MINUTE_MS)
    assert.ok(isKept('2026-07-30'))
    await pass(5 * MINUTE_MS)
    assert.deepEqual([isKept('2026-07-30'), isKept('2026-07-31')], [false, true])
  })

  it('never affects today, however the clock jumps ahead and back', async () => {
    const jump = fc.record({
      hours: fc.integer({ min: 0, max: 30 }),
      days: fc.constantFrom(0, 0, 1, 2, 400, 3650),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(jump, { maxLength: 8 }), async (jumps) => {
        const { pass, kept, isKept, today, setError } = machine()
        await pass(2 * HOUR_MS)
        for (const { hours, days } of jumps) {
          setError(days * DAY_MS)
          const day = today()
          for (let hour = 0; hour < hours; hour++) {
            await pass(HOUR_MS)
            if (today() === day) assert.ok(isKept(day), `${days} days ahead for ${hour} hours`)
          }
          setError(0)
          await pass(26 * HOUR_MS)
          // All other days are gone, including those of the wrong clock.
          const near = [-1, 0, 1].map((days) => utcDayOf(Date.parse(today()) + days * DAY_MS))
          assert.deepEqual(
            kept().filter((day) => !near.includes(day)),
            [],
          )
          assert.ok(isKept(today()))
        }
      }),
      { numRuns: extent(15, 5) },
    )
  })
})

describe('a clock that jumps 400 days ahead and back', () => {
  it('does not reset the daily quota', async (t) => {
    let now = NOON
    const server = await startLocalServer({ UPLOADS_PER_DAY: '2' }, { now: () => now })
    t.after(() => server.stop())
    const upload = async () => (await post(server.url, gif(), '198.51.100.7')).status
    assert.deepEqual([await upload(), await upload(), await upload()], [201, 201, 429])
    now += 400 * DAY_MS
    assert.deepEqual([await upload(), await upload(), await upload()], [201, 201, 429])
    now -= 400 * DAY_MS
    assert.equal(await upload(), 429)
    // The same with a server that is started while the clock is ahead.
    const ahead = await startLocalServer(
      { UPLOADS_PER_DAY: '2' },
      { now: () => NOON + 400 * DAY_MS },
      server.dataDir,
    )
    assert.equal((await post(ahead.url, gif(), '198.51.100.8')).status, 201)
    await ahead.stop()
    assert.equal(await upload(), 429)
  })
})

describe("reporters' texts and contacts", () => {
  it('are erased when their retention period is over, even if nobody reports again', async (t) => {
    const now = () => NOON
    const first = await startLocalServer({}, { now })
    t.after(() => first.stop())
    const [old, recent] = [await store(first.url, gif()), await store(first.url, gif())]
    for (const { id } of [old, recent]) {
      await report(first.url, id, { category: 'other', email: 'a@b.example' })
    }
    const ledger = await ledgerOf(t, first.dataDir)
    await ledger.recordKeep(old.id, 'harmless', new Date(NOON - 31 * DAY_MS))
    await ledger.recordKeep(recent.id, 'harmless', new Date(NOON - 29 * DAY_MS))
    const emailOf = async ({ id }: { id: string }) => (await ledger.reportsOf(id, 1))[0]!.contact
    assert.equal(await emailOf(old), '<a@b.example>')
    const second = await startLocalServer({}, { now }, first.dataDir)
    t.after(() => second.stop())
    await until('the old report is erased', async () => (await emailOf(old)) === '')
    assert.equal(await emailOf(recent), '<a@b.example>')
  })
})
