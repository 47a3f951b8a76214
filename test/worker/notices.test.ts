/** Notices are delivered by triggers, each of which starts anew. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Notifier } from '../../src/notify/notifier.ts'
import { startHostHere } from '../support/worker/host-here.ts'

it('delivers a notice once to each receiver, even if another one is down', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const delivered: string[] = []
  let isDown = true
  const receiver = (name: string): Notifier => ({
    name,
    async deliver() {
      if (name === 'second' && isDown) throw new Error('down')
      delivered.push(name)
    },
  })
  const { ledger, trigger } = await startHostHere(t, { notifiers: [receiver('first'), receiver('second')] })
  await ledger.raiseAlert('purges', new Date(), { raises: 'purge.stuck', pause: null })
  for (let i = 0; i < 3; i++) {
    t.mock.timers.setTime(Date.now() + 5 * 60_000)
    await trigger()
  }
  assert.deepEqual(delivered, ['first'])
  isDown = false
  t.mock.timers.setTime(Date.now() + 5 * 60_000)
  await trigger()
  assert.deepEqual(delivered, ['first', 'second'])
})
