import assert from 'node:assert/strict'
import { LedgerUnavailable } from '../../../src/stores/ledger.ts'
import { until } from '../../support/until.ts'
import { callsOf } from './durability.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'

export function outagesCases({ onHooks }: Harness): void {
  onHooks(
    ['interrupt'],
    'throws LedgerUnavailable while unreachable, and recovers',
    async (ledger, hooks) => {
      assert.equal(await ledger.reserveUpload('kept', DAY, 10), 1)
      const restore = await hooks.interrupt()
      try {
        for (const call of callsOf(ledger)) {
          await assert.rejects(call(), (error) => {
            assert.ok(error instanceof LedgerUnavailable, String(error))
            assert.ok(error.cause instanceof Error, 'it has a cause')
            return true
          })
        }
      } finally {
        await restore()
      }
      await ledger.check()
      assert.equal(await ledger.reserveUpload('kept', DAY, 10), 2)
      assert.equal(await ledger.usedUploads('a', DAY), 0, 'failed calls changed nothing')
      assert.deepEqual(await ledger.auditLog(10), [])
      for (const call of callsOf(ledger)) await call()
    },
  )

  onHooks(
    ['interrupt'],
    'never counts less than it acknowledged when interrupted under load',
    async (ledger, hooks) => {
      let requested = 0
      let acknowledged = 0
      const errors: unknown[] = []
      let stop = false
      const callers = Array.from({ length: 20 }, async () => {
        while (!stop) {
          requested += 1
          try {
            await ledger.reserveUpload('a', DAY, 1_000_000)
            acknowledged += 1
          } catch (error) {
            errors.push(error)
            // Failing takes no time: lets other callers run.
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        }
      })
      await until('some are acknowledged', () => acknowledged > 50)
      const restore = await hooks.interrupt()
      try {
        await until('some fail', () => errors.length > 20)
      } finally {
        await restore()
      }
      const before = acknowledged
      await until('some are acknowledged again', () => acknowledged > before + 50)
      stop = true
      await Promise.all(callers)
      for (const error of errors) assert.ok(error instanceof LedgerUnavailable, String(error))
      const used = await ledger.usedUploads('a', DAY)
      assert.ok(acknowledged <= used && used <= requested, `${acknowledged} <= ${used} <= ${requested}`)
    },
  )
}
