/** Notices are delivered by triggers, each of which starts anew. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Notifier } from '../../src/notify/notifier.ts'
import { startFakeScanner } from '../support/fake-scanner.ts'
import { gif } from '../support/images/tiny-images.ts'
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

it('delivers notices and purges before it waits for a scanner', async (t) => {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const image = gif()
  const scansSoFar: number[] = []
  const note = async () => void scansSoFar.push(scanner.looksAt(image))
  const { ledger, trigger, upload } = await startHostHere(t, {
    notifiers: [{ name: 'receiver', deliver: note }],
    cache: { purge: async () => note().then(() => ({ success: true })) } as never,
    variables: { SCAN: 'after', SCANNER_URL: scanner.url, CDN_URL: 'workers-cache://default' },
  })
  assert.equal((await upload(image)).status, 201)
  await ledger.enqueuePurge('AAAAAAAAAAA', 0, Date.now())
  await ledger.raiseAlert('purges', new Date(), { raises: 'purge.stuck', pause: null })
  await trigger()
  assert.deepEqual(scansSoFar, [0, 0])
  assert.equal(scanner.looksAt(image), 1)
})
