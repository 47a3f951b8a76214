import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00Z')
const PAUSE = { reason: 'twice in a week', who: 'pinhole', raises: 'uploads.paused' }
const THEN = { raises: 'cap.reached', pause: PAUSE }

/** Claims and settles all pending notices. */
async function takeNotices(ledger: Ledger): Promise<string[]> {
  const claimed = await ledger.claimNotices(AT.getTime() + 60_000, 1)
  for (const notice of claimed) await ledger.settleNotice(notice, AT.getTime(), AT.getTime())
  return claimed.map(({ kind, count }) => `${kind} ${count}`).sort()
}

export function alertCases({ on, onHooks }: Harness): void {
  const reach = (ledger: Ledger, name: string, day = DAY, since = '2026-07-24') =>
    ledger.recordCapReached(name, day, since, AT, THEN)

  on('raises a notice once per cap and day, and pauses uploads for the second cap', async (ledger) => {
    assert.equal(await reach(ledger, 'x'), 'reached')
    assert.equal(await reach(ledger, 'x'), null)
    assert.deepEqual(await takeNotices(ledger), ['cap.reached 1'])
    assert.deepEqual(await ledger.settings(), {})
    assert.equal(await reach(ledger, 'y'), 'paused')
    assert.deepEqual(await takeNotices(ledger), ['uploads.paused 1'])
    assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
    const [act, ...others] = await ledger.auditLog(10)
    assert.deepEqual(
      [act?.act, act?.subject, act?.reason, act?.who],
      ['set', 'uploads=paused', PAUSE.reason, 'pinhole'],
    )
    assert.deepEqual(others, [])
  })

  on('starts over after a pause, and ignores caps reached long ago', async (ledger) => {
    assert.equal(await reach(ledger, 'x'), 'reached')
    assert.equal(await reach(ledger, 'x', '2026-08-08', '2026-08-01'), 'reached', 'the first is too old')
    assert.equal(await reach(ledger, 'x', '2026-08-09', '2026-08-02'), 'paused')
    await ledger.changeSettings({ uploads: null }, 'looked at', AT)
    assert.equal(await reach(ledger, 'y', '2026-08-09', '2026-08-02'), 'reached')
  })

  on('does not pause uploads that are already paused', async (ledger) => {
    await ledger.changeSettings({ uploads: 'paused' }, 'moving', AT)
    await reach(ledger, 'x')
    assert.equal(await reach(ledger, 'y'), 'reached')
    await ledger.raiseAlert('a', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await takeNotices(ledger), ['cap.reached 1'])
    assert.equal((await ledger.auditLog(10)).length, 1)
  })

  on('records a cap once when several processes reach it concurrently', async (ledger, { concurrently }) => {
    const outcomes = await concurrently(12, (handle) => reach(handle, 'x'))
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== null),
      ['reached'],
    )
    assert.deepEqual(await takeNotices(ledger), ['cap.reached 1'])
  })

  on('pauses uploads when two caps are reached concurrently', async (ledger, { another }) => {
    const handles = [ledger, await another()]
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all(['x', 'y'].map((name, index) => reach(handles[index]!, name)))
      assert.deepEqual(outcomes.sort(), ['paused', 'reached'])
      await ledger.changeSettings({ uploads: null }, 'looked at', AT)
    }
  })

  on('raises an alert and its notice once, until the alert is resolved', async (ledger, subject) => {
    const raise = (handle: Ledger) => handle.raiseAlert('disk a', AT, { raises: 'disk.high', pause: null })
    const raised = await subject.concurrently(8, raise)
    assert.equal(raised.filter(Boolean).length, 1)
    assert.deepEqual(await takeNotices(ledger), ['disk.high 1'])
    await ledger.raiseAlert('quiet', AT, { raises: null, pause: null })
    assert.deepEqual(await takeNotices(ledger), [])
    const since = AT.getTime()
    assert.deepEqual(await (await subject.another()).activeAlerts(), [
      { name: 'disk a', since },
      { name: 'quiet', since },
    ])
    const others = Array.from({ length: 150 }, (_, index) => `no such ${index}`)
    await ledger.resolveAlerts(['disk a', ...others])
    assert.deepEqual(await ledger.activeAlerts(), [{ name: 'quiet', since }])
    assert.equal(await raise(ledger), true)
  })

  on('pauses uploads along with the alert', async (ledger) => {
    await ledger.raiseAlert('unanswered', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
    await ledger.changeSettings({ uploads: null }, 'seen', AT)
    await ledger.raiseAlert('unanswered', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await ledger.settings(), {}, 'not again for the same alert')
    assert.deepEqual(await takeNotices(ledger), ['uploads.paused 1'])
  })

  onHooks(
    ['process'],
    'records each alert along with its notice, whenever the process is killed',
    async (ledger, { process }) => {
      for (let round = 0; round < 3; round++) {
        const child = await process()
        const calls = Array.from({ length: 200 }, (_, index) => `disk ${round}.${index}`)
        void child
          .call(calls.map((name) => ['raiseAlert', name, AT, { raises: 'disk.high', pause: null }]))
          .catch(() => {})
        while ((await ledger.activeAlerts()).length === 0)
          await new Promise((resolve) => setTimeout(resolve, 1))
        await child.kill()
        // The database may still be processing statements of the dead process: rows they lock become visible later.
        let noticed = 0
        let raised: string[] = []
        await until('there are as many events as alerts', async () => {
          for (const notice of await takeNotices(ledger)) {
            noticed += Number(/^disk\.high (\d+)$/.exec(notice)![1])
          }
          raised = (await ledger.activeAlerts()).map(({ name }) => name)
          return noticed > 0 && noticed === raised.length
        })
        await ledger.resolveAlerts(raised)
      }
    },
  )
}
