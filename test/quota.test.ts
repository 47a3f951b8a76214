/** The quota of an address with concurrent servers on a real ledger, and the global limits. */

import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import type { Challenges } from '../src/service/challenge/challenges.ts'
import { createReports, REJECTED_REPORTS } from '../src/service/moderation/reports.ts'
import { createAdmission } from '../src/service/quota/admission.ts'
import { createCapacity } from '../src/service/quota/capacity.ts'
import { createQuota } from '../src/service/quota/quota.ts'
import { createTagsOf } from '../src/service/quota/uploader-tags.ts'
import type { Settings } from '../src/service/settings.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import { HOUR_MS, utcDayOf } from '../src/utc-day.ts'
import { storeOf } from './support/ids.ts'
import { ledgerOf } from './support/ledger.ts'

const CLIENT = { address: '192.0.2.7', network: '192.0.2.0' }

const ledger = await ledgerOf({ after })

const options = {
  limits: { perDay: 1, refusals: { count: 100, bytes: 1e9 } },
  now: () => Date.now(),
  hashes: nodeHashes,
}

it('does not refuse an upload while another server releases its reservation', async () => {
  const other = createQuota(ledger, options)
  const reservation = await other.reserve(CLIENT)
  const quota = createQuota(
    {
      ...ledger,
      // Between the two ledger calls of a refusal.
      async refusals(bucket, day) {
        await reservation!.release()
        return ledger.refusals(bucket, day)
      },
    },
    options,
  )
  assert.equal(await quota.reserve(CLIENT), null, 'a retry makes sense')
  const second = await quota.reserve(CLIENT)
  assert.equal(second?.used, 1)
  second.confirm()
  await quota.stop()
  await assert.rejects(quota.reserve(CLIENT), { code: 'quota-exceeded' })
})

it('waits for an upload in flight, but not for one whose server died', async () => {
  const client = { address: '192.0.2.8', network: '192.0.2.0' }
  const noon = Date.UTC(2026, 0, 1, 12)
  const quotaAfter = (minutes: number) =>
    createQuota(ledger, { ...options, now: () => noon + minutes * 60_000 })
  await quotaAfter(0).reserve(client)
  assert.equal(await quotaAfter(14).reserve(client), null)
  await assert.rejects(quotaAfter(15).reserve(client), { code: 'quota-exceeded' })
})

it('does not wait for an upload reserved by a clock that was hours ahead', async () => {
  const client = { address: '192.0.2.10', network: '192.0.2.0' }
  const noon = Date.UTC(2026, 0, 3, 12)
  const quotaAt = (now: number) => createQuota(ledger, { ...options, now: () => now })
  await quotaAt(noon + 6 * HOUR_MS).reserve(client)
  await assert.rejects(quotaAt(noon).reserve(client), { code: 'quota-exceeded' })
})

it('does not throttle an address for a report rejected when the clock was hours ahead', async () => {
  let now = Date.UTC(2026, 0, 4, 18)
  const reports = createReports({
    objects: storeOf((id) => id === '22222222222'),
    ledger,
    hashes: nodeHashes,
    now: () => now,
    metrics: { report: () => {} },
  })
  const form = { category: 'other', name: '', email: '', signature: '', isInGoodFaith: true }
  const file = (image: string) => reports.file({ ...form, image, text: 'What is to be seen in it.' }, CLIENT)
  await assert.rejects(file('33333333333'), { code: 'not-found' })
  now -= 6 * HOUR_MS
  for (let count = 0; count < REJECTED_REPORTS.burst; count++) {
    await assert.rejects(file('33333333333'), { code: 'not-found' })
  }
  await assert.rejects(file('22222222222'), { code: 'too-many-reports' })
})

it('counts and tags an upload on the same day, although midnight passes', async () => {
  const times = [Date.UTC(2026, 0, 2) - 1, Date.UTC(2026, 0, 2)]
  let reserved: unknown
  const recording: Ledger = {
    ...ledger,
    reserveUpload(bucket, day, limit, budget, extras) {
      reserved = [day, utcDayOf(extras!.tags!.atMs), utcDayOf(extras!.reservedAtMs!)]
      return ledger.reserveUpload(bucket, day, limit, budget, extras)
    },
  }
  const quota = createQuota(recording, {
    ...options,
    now: () => times.shift() ?? Date.UTC(2026, 0, 2),
    tagsOf: createTagsOf({ ledger, hashes: nodeHashes }),
  })
  await quota.reserve(CLIENT, { id: 'AAAAAAAAAAA' })
  assert.deepEqual(reserved, ['2026-01-01', '2026-01-01', '2026-01-01'])
})

it('does not count an image against one limit if another limit refuses it', async () => {
  const caps = { 'daily-uploads': 1, 'daily-bytes': 100 }
  const capacity = createCapacity({
    ledger,
    settings: { current: () => caps, refresh: async () => {} } as unknown as Settings,
    now: Date.now,
    freeBytes: () => null,
    onReached() {},
    // The report that a limit was reached may come after the ledger is closed.
    onFailure() {},
  })
  await assert.rejects(capacity.take(101), { code: 'capacity-reached' })
  await capacity.stop()
  await capacity.take(100)
  await assert.rejects(capacity.take(1), { code: 'capacity-reached' })
  await capacity.stop()
})

it('admits the retry of a stored upload when no other is admitted', async () => {
  const client = { address: '192.0.2.9', network: '192.0.2.0' }
  const caps = { 'daily-uploads': 0, 'daily-bytes': 0, 'min-free-bytes': 0 }
  const capacity = createCapacity({
    ledger,
    settings: { current: () => caps, refresh: async () => {} } as unknown as Settings,
    now: Date.now,
    freeBytes: () => 1,
    onReached() {},
    onFailure() {},
  })
  const admit = createAdmission({
    uploadQueue: { enter: async (_, admitOne) => ({ admitted: (await admitOne())!, end() {} }) },
    capacity,
    quota: createQuota(ledger, options),
    challenges: { assertPresent: async () => {} } as unknown as Challenges,
    images: { exists: async (id) => id === 'stored' },
  })
  const admitted = (id: string) =>
    admit({
      address: client,
      identity: { id, key: 'key', isDerived: true },
      maxBytes: 100,
      credentials: {},
      onRemaining() {},
      onDisconnect: () => () => {},
    })
  await ledger.takeCapacity('daily-uploads', utcDayOf(Date.now()), 1, 1)
  for (const [full, code] of [
    [{ 'daily-uploads': 1 }, 'capacity-reached'],
    [{ 'min-free-bytes': 2 }, 'storage-full'],
  ] as const) {
    Object.assign(caps, full)
    await assert.rejects(admitted('another'), { code })
    const slot = await admitted('stored')
    assert.equal(slot.admitted.isRepeat, true)
    await slot.admitted.reservation.release()
    slot.end()
  }
  await capacity.stop()
})
