/** The quota of an address with concurrent servers on a real ledger, and the global limits. */

import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createCapacity } from '../src/service/quota/capacity.ts'
import { createQuota } from '../src/service/quota/quota.ts'
import type { Settings } from '../src/service/settings.ts'
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
