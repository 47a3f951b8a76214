/** The quota of an address on a real ledger, while other servers use the same one; and the caps of all. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createCapacity } from '../src/service/quota/capacity.ts'
import { createQuota } from '../src/service/quota/quota.ts'
import type { Settings } from '../src/service/settings.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { folderOf } from './support/folder.ts'

const CLIENT = { address: '192.0.2.7', network: '192.0.2.0' }

const folder = await folderOf({ after })
const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
after(() => ledger.close())

const options = {
  limits: { perDay: 1, refusals: { count: 100, bytes: 1e9 } },
  now: () => Date.now(),
  hashes: nodeHashes,
}

it('refuses nobody for an upload that another server gives up at that moment', async () => {
  const other = createQuota(ledger, options)
  const held = await other.reserve(CLIENT)
  const here = createQuota(
    {
      ...ledger,
      // Between the two looks of a refusal.
      async refusals(bucket, day) {
        await held!.release()
        return ledger.refusals(bucket, day)
      },
    },
    options,
  )
  assert.equal(await here.reserve(CLIENT), null, 'it is worth another try')
  const second = await here.reserve(CLIENT)
  assert.equal(second?.used, 1)
  second.confirm()
  await here.stop()
  await assert.rejects(here.reserve(CLIENT), { code: 'quota-exceeded' })
})

it('takes nothing of one cap for an image that is too large for what is left of another', async () => {
  const caps = { 'daily-uploads': 1, 'daily-bytes': 100 }
  const capacity = createCapacity({
    ledger,
    settings: { current: () => caps, refresh: async () => {} } as unknown as Settings,
    now: Date.now,
    freeBytes: () => null,
    onReached() {},
    // What is told of it may come when the ledger is closed.
    onFailure() {},
  })
  await assert.rejects(capacity.take(101), { code: 'capacity-reached' })
  await capacity.stop()
  await capacity.take(100)
  await assert.rejects(capacity.take(1), { code: 'capacity-reached' })
  await capacity.stop()
})
