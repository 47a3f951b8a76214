import assert from 'node:assert/strict'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const LIMIT = 100

export function quotaCases({ on, onHooks }: Harness): void {
  on('reserves uploads up to the limit', async (ledger) => {
    assert.equal(await ledger.usedUploads('a', DAY), 0)
    assert.equal(await ledger.reserveUpload('a', DAY, 3), 1)
    assert.equal(await ledger.reserveUpload('a', DAY, 3), 2)
    assert.equal(await ledger.usedUploads('a', DAY), 2)
    assert.equal(await ledger.reserveUpload('a', DAY, 3), 3)
    assert.equal(await ledger.reserveUpload('a', DAY, 3), null)
    assert.equal(await ledger.usedUploads('a', DAY), 3)
  })

  on('tracks reservations until they are confirmed or released', async (ledger) => {
    const reserved = (reservedAtMs = 5000) => ({ reservedAtMs })
    const reservedOf = async (bucket: string) => (await ledger.refusals(bucket, DAY)).reserved
    for (const used of [1, 2, 3]) {
      assert.equal(await ledger.reserveUpload('a', DAY, 3, undefined, reserved(4000 + used)), used)
    }
    assert.equal(await ledger.reserveUpload('a', DAY, 3, undefined, reserved(9000)), null, 'changes nothing')
    assert.partialDeepStrictEqual(await ledger.refusals('a', DAY), {
      used: 3,
      count: 0,
      bytes: 0,
      reserved: 3,
      reservedAtMs: 4003,
    })
    await ledger.releaseUpload('a', DAY, undefined, reserved())
    assert.deepEqual([await reservedOf('a'), await ledger.usedUploads('a', DAY)], [2, 2])
    for (const bucket of ['a', 'b', 'nobody']) await ledger.confirmUpload(bucket, DAY)
    assert.deepEqual([await reservedOf('a'), await ledger.usedUploads('a', DAY)], [1, 2])
    assert.equal(await ledger.reserveUpload('a', DAY, 3, undefined, reserved()), 3)
    assert.equal(await reservedOf('a'), 2)
    // A repeated confirmation must not affect other reservations.
    for (let n = 0; n < 5; n++) await ledger.confirmUpload('a', DAY)
    assert.deepEqual([await reservedOf('a'), await ledger.usedUploads('a', DAY)], [0, 3])
    assert.equal(await ledger.reserveUpload('b', DAY, 3), 1)
    assert.equal(await reservedOf('b'), 0, 'without `reservedAtMs` the upload counts as used right away')
  })

  on('counts buckets and days separately', async (ledger) => {
    assert.equal(await ledger.reserveUpload('a', DAY, 1), 1)
    assert.equal(await ledger.reserveUpload('A', DAY, 1), 1)
    assert.equal(await ledger.reserveUpload('b', DAY, 1), 1)
    assert.equal(await ledger.reserveUpload('a', '2026-08-01', 1), 1)
    assert.equal(await ledger.reserveUpload('a', DAY, 1), null)
    await ledger.releaseUpload('a', '2026-08-01')
    await ledger.releaseUpload('a', '2026-08-01')
    assert.equal(await ledger.usedUploads('a', DAY), 1)
    const { used, count } = await ledger.refusals('a', '2026-08-01')
    assert.deepEqual({ used, count }, { used: 0, count: 0 }, 'never below zero, and not a refusal')
    assert.equal(await ledger.reserveUpload('a', '2026-08-01', 1), 1)
  })

  on('reserves nothing when the limit is zero or was lowered below the usage', async (ledger) => {
    assert.equal(await ledger.reserveUpload('a', DAY, 0), null)
    assert.equal(await ledger.usedUploads('a', DAY), 0)
    for (const used of [1, 2, 3]) assert.equal(await ledger.reserveUpload('a', DAY, 10), used)
    assert.equal(await ledger.reserveUpload('a', DAY, 2), null)
    assert.equal(await ledger.usedUploads('a', DAY), 3)
  })

  on('forgets reservations of earlier days only', async (ledger) => {
    for (const day of ['2025-12-31', '2026-01-09', '2026-01-10', '2026-01-11']) {
      await ledger.reserveUpload('a', day, 9)
    }
    await ledger.eraseDaysBefore('2026-01-10')
    assert.equal(await ledger.usedUploads('a', '2025-12-31'), 0)
    assert.equal(await ledger.usedUploads('a', '2026-01-09'), 0)
    assert.equal(await ledger.usedUploads('a', '2026-01-10'), 1)
    assert.equal(await ledger.usedUploads('a', '2026-01-11'), 1)
  })

  on('forgets a thousand reservations', async (ledger, { another }) => {
    const other = await another()
    const buckets = Array.from({ length: 1100 }, (_, index) => `bucket ${index}`)
    await Promise.all(buckets.map((bucket) => ledger.reserveUpload(bucket, '2026-07-30', 9)))
    await ledger.reserveUpload('bucket 7', DAY, 9)
    await Promise.all([ledger.eraseDaysBefore(DAY), other.eraseDaysBefore(DAY)])
    const used = await Promise.all(buckets.map((bucket) => ledger.usedUploads(bucket, '2026-07-30')))
    assert.deepEqual(
      used.filter((uploads) => uploads > 0),
      [],
    )
    assert.equal(await ledger.usedUploads('bucket 7', DAY), 1)
  })

  on(
    'lets exactly the allowed number of 300 concurrent callers reserve',
    async (ledger, { concurrently }) => {
      assertEachCountOnce(await concurrently(300, (handle) => handle.reserveUpload('a', DAY, LIMIT)))
      assert.equal(await ledger.usedUploads('a', DAY), LIMIT)
    },
  )

  onHooks(
    ['process'],
    'makes exactly as many reservations as allowed across three processes',
    async (ledger, { process }) => {
      const processes = await Promise.all([process(), process(), process()])
      const results = await Promise.all(
        processes.map((each) =>
          each.call(Array.from({ length: 100 }, () => ['reserveUpload', 'a', DAY, LIMIT - 1])),
        ),
      )
      assertEachCountOnce(results.flat(), LIMIT - 1)
      assert.equal(await ledger.usedUploads('a', DAY), LIMIT - 1)
    },
  )

  on('counts concurrent reservations and releases exactly', async (ledger, { concurrently }) => {
    await concurrently(200, async (handle, index) => {
      assert.notEqual(await handle.reserveUpload('a', DAY, 1000), null)
      if (index % 4 < 2) await handle.releaseUpload('a', DAY)
    })
    assert.equal(await ledger.usedUploads('a', DAY), 100)
  })

  on('reserves nothing once the budget of refusals, or of their bytes, is used up', async (ledger) => {
    const budget = { count: 3, bytes: 1000 }
    const reserve = (bucket: string) => ledger.reserveUpload(bucket, DAY, 9, budget)
    assert.partialDeepStrictEqual(await ledger.refusals('a', DAY), { count: 0, bytes: 0 })
    for (const bytes of [0, 1, 2]) {
      assert.equal(await reserve('a'), 1)
      await ledger.releaseUpload('a', DAY, bytes)
    }
    assert.equal(await reserve('a'), null)
    assert.partialDeepStrictEqual(await ledger.refusals('a', DAY), { count: 3, bytes: 3 })
    assert.equal(await ledger.usedUploads('a', DAY), 0)
    assert.equal(await reserve('b'), 1)
    await ledger.releaseUpload('b', DAY, 1000)
    assert.equal(await reserve('b'), null)
    assert.partialDeepStrictEqual(await ledger.refusals('b', DAY), { count: 1, bytes: 1000 })
    assert.equal(await ledger.reserveUpload('b', '2026-08-01', 9, budget), 1)
    await ledger.eraseDaysBefore('2026-08-01')
    assert.partialDeepStrictEqual(await ledger.refusals('a', DAY), { count: 0, bytes: 0 })
  })

  on('counts concurrent refusals exactly', async (ledger, { concurrently }) => {
    await concurrently(100, async (handle) => {
      await handle.reserveUpload('a', DAY, 1000)
      await handle.releaseUpload('a', DAY, 10 ** 9)
    })
    assert.partialDeepStrictEqual(await ledger.refusals('a', DAY), { count: 100, bytes: 10 ** 11 })
    assert.equal(await ledger.usedUploads('a', DAY), 0)
  })

  on('rejects malformed days', async (ledger) => {
    for (const day of ['', '2026-7-31', "2026-07-31' or '1'='1", '2026-07-31\n', 'z']) {
      await assert.rejects(ledger.reserveUpload('a', day, 1), RangeError, day)
      await assert.rejects(ledger.releaseUpload('a', day), RangeError, day)
      await assert.rejects(ledger.usedUploads('a', day), RangeError, day)
      await assert.rejects(ledger.daySalt(day), RangeError, day)
      await assert.rejects(ledger.eraseDaysBefore(day), RangeError, day)
    }
  })
}

function assertEachCountOnce(results: unknown[], limit = LIMIT): void {
  const counts = results.filter((result) => result !== null) as number[]
  assert.deepEqual(
    counts.sort((a, b) => a - b),
    Array.from({ length: limit }, (_, index) => index + 1),
  )
}
