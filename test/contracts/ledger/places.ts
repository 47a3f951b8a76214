import assert from 'node:assert/strict'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const LIMIT = 100

export function placesCases({ on, onHooks }: Harness): void {
  on('counts up to the limit, and not past it', async (ledger) => {
    assert.equal(await ledger.usedPlaces('a', DAY), 0)
    assert.equal(await ledger.reservePlace('a', DAY, 3), 1)
    assert.equal(await ledger.reservePlace('a', DAY, 3), 2)
    assert.equal(await ledger.usedPlaces('a', DAY), 2)
    assert.equal(await ledger.reservePlace('a', DAY, 3), 3)
    assert.equal(await ledger.reservePlace('a', DAY, 3), null)
    assert.equal(await ledger.usedPlaces('a', DAY), 3)
  })

  on('gives a place back to whoever asks next', async (ledger) => {
    for (const used of [1, 2]) assert.equal(await ledger.reservePlace('a', DAY, 2), used)
    await ledger.releasePlace('a', DAY)
    assert.equal(await ledger.usedPlaces('a', DAY), 1)
    assert.equal(await ledger.reservePlace('a', DAY, 2), 2)
    assert.equal(await ledger.reservePlace('a', DAY, 2), null)
  })

  on('never counts below zero', async (ledger) => {
    await ledger.releasePlace('a', DAY)
    assert.equal(await ledger.usedPlaces('a', DAY), 0)
    await ledger.reservePlace('a', DAY, 5)
    await Promise.all(Array.from({ length: 5 }, () => ledger.releasePlace('a', DAY)))
    assert.equal(await ledger.usedPlaces('a', DAY), 0)
    assert.equal(await ledger.reservePlace('a', DAY, 5), 1)
  })

  on('keeps buckets apart, and days', async (ledger) => {
    assert.equal(await ledger.reservePlace('a', DAY, 1), 1)
    assert.equal(await ledger.reservePlace('A', DAY, 1), 1)
    assert.equal(await ledger.reservePlace('b', DAY, 1), 1)
    assert.equal(await ledger.reservePlace('a', '2026-08-01', 1), 1)
    assert.equal(await ledger.reservePlace('a', DAY, 1), null)
    await ledger.releasePlace('a', '2026-08-01')
    assert.equal(await ledger.usedPlaces('a', DAY), 1)
    assert.equal(await ledger.usedPlaces('a', '2026-08-01'), 0)
  })

  on('has no place under a limit of nothing, and few under one that was lowered', async (ledger) => {
    assert.equal(await ledger.reservePlace('a', DAY, 0), null)
    assert.equal(await ledger.usedPlaces('a', DAY), 0)
    for (const used of [1, 2, 3]) assert.equal(await ledger.reservePlace('a', DAY, 10), used)
    assert.equal(await ledger.reservePlace('a', DAY, 2), null)
    assert.equal(await ledger.usedPlaces('a', DAY), 3)
  })

  on('forgets the places of earlier days alone', async (ledger) => {
    for (const day of ['2025-12-31', '2026-01-09', '2026-01-10', '2026-01-11']) {
      await ledger.reservePlace('a', day, 9)
    }
    await ledger.forgetDaysBefore('2026-01-10')
    assert.equal(await ledger.usedPlaces('a', '2025-12-31'), 0)
    assert.equal(await ledger.usedPlaces('a', '2026-01-09'), 0)
    assert.equal(await ledger.usedPlaces('a', '2026-01-10'), 1)
    assert.equal(await ledger.usedPlaces('a', '2026-01-11'), 1)
  })

  on('forgets a thousand places', async (ledger, { another }) => {
    const other = await another()
    const buckets = Array.from({ length: 1100 }, (_, nth) => `bucket ${nth}`)
    await Promise.all(buckets.map((bucket) => ledger.reservePlace(bucket, '2026-07-30', 9)))
    await ledger.reservePlace('bucket 7', DAY, 9)
    await Promise.all([ledger.forgetDaysBefore(DAY), other.forgetDaysBefore(DAY)])
    const used = await Promise.all(buckets.map((bucket) => ledger.usedPlaces(bucket, '2026-07-30')))
    assert.deepEqual(
      used.filter((places) => places > 0),
      [],
    )
    assert.equal(await ledger.usedPlaces('bucket 7', DAY), 1)
  })

  on('gives exactly as many places as there are to 300 callers at once', async (ledger, { another }) => {
    const handles = [ledger, await another(), await another()]
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, nth) => handles[nth % 3]!.reservePlace('a', DAY, LIMIT)),
    )
    assertEachPlaceOnce(answers)
    assert.equal(await ledger.usedPlaces('a', DAY), LIMIT)
  })

  onHooks(['process'], 'does the same over three processes', async (ledger, { process }) => {
    const processes = await Promise.all([process(), process(), process()])
    const answers = await Promise.all(
      processes.map((each) =>
        each.call(Array.from({ length: 100 }, () => ['reservePlace', 'a', DAY, LIMIT - 1])),
      ),
    )
    assertEachPlaceOnce(answers.flat(), LIMIT - 1)
    assert.equal(await ledger.usedPlaces('a', DAY), LIMIT - 1)
  })

  on('loses no count when places are taken and given back at once', async (ledger, { another }) => {
    const handles = [ledger, await another()]
    await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        const handle = handles[nth % 2]!
        assert.notEqual(await handle.reservePlace('a', DAY, 1000), null)
        if (nth % 4 < 2) await handle.releasePlace('a', DAY)
      }),
    )
    assert.equal(await ledger.usedPlaces('a', DAY), 100)
  })

  on('takes no day that is not one', async (ledger) => {
    for (const day of ['', '2026-7-31', "2026-07-31' or '1'='1", '2026-07-31\n', 'z']) {
      await assert.rejects(ledger.reservePlace('a', day, 1), RangeError, day)
      await assert.rejects(ledger.releasePlace('a', day), RangeError, day)
      await assert.rejects(ledger.usedPlaces('a', day), RangeError, day)
      await assert.rejects(ledger.daySalt(day), RangeError, day)
      await assert.rejects(ledger.forgetDaysBefore(day), RangeError, day)
    }
  })
}

function assertEachPlaceOnce(answers: unknown[], limit = LIMIT): void {
  const places = answers.filter((answer) => answer !== null) as number[]
  assert.deepEqual(
    places.sort((a, b) => a - b),
    Array.from({ length: limit }, (_, nth) => nth + 1),
  )
}
