import assert from 'node:assert/strict'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { until } from '../../support/until.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const AT = new Date('2026-07-31T12:00:00Z')
const PAUSE = { reason: 'twice in a week', who: 'pinhole', raises: 'uploads.paused' }
const THEN = { raises: 'cap.reached', pause: PAUSE }

async function told(ledger: Ledger): Promise<string[]> {
  const claimed = await ledger.claimNotices(AT.getTime() + 60_000, 1)
  for (const notice of claimed) await ledger.settleNotice(notice, AT.getTime(), AT.getTime())
  return claimed.map(({ kind, count }) => `${kind} ${count}`).sort()
}

export function alertCases({ on, onHooks }: Harness): void {
  const reach = (ledger: Ledger, name: string, day = DAY, since = '2026-07-24') =>
    ledger.recordReached(name, day, since, AT, THEN)

  on('tells a cap that was reached, once a day and cap, and pauses for the second', async (ledger) => {
    assert.equal(await reach(ledger, 'x'), 'reached')
    assert.equal(await reach(ledger, 'x'), null)
    assert.deepEqual(await told(ledger), ['cap.reached 1'])
    assert.deepEqual(await ledger.settings(), {})
    assert.equal(await reach(ledger, 'y'), 'paused')
    assert.deepEqual(await told(ledger), ['uploads.paused 1'])
    assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
    const [act, ...others] = await ledger.auditLog(10)
    assert.deepEqual(
      [act?.act, act?.subject, act?.reason, act?.who],
      ['set', 'uploads=paused', PAUSE.reason, 'pinhole'],
    )
    assert.deepEqual(others, [])
  })

  on('begins anew after a pause, and forgets what was reached long ago', async (ledger) => {
    assert.equal(await reach(ledger, 'x'), 'reached')
    assert.equal(await reach(ledger, 'x', '2026-08-08', '2026-08-01'), 'reached', 'the first is too old')
    assert.equal(await reach(ledger, 'x', '2026-08-09', '2026-08-02'), 'paused')
    await ledger.changeSettings({ uploads: null }, 'looked at', AT)
    assert.equal(await reach(ledger, 'y', '2026-08-09', '2026-08-02'), 'reached')
  })

  on('does not pause what is paused', async (ledger) => {
    await ledger.changeSettings({ uploads: 'paused' }, 'moving', AT)
    await reach(ledger, 'x')
    assert.equal(await reach(ledger, 'y'), 'reached')
    await ledger.raiseAlert('a', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await told(ledger), ['cap.reached 1'])
    assert.equal((await ledger.auditLog(10)).length, 1)
  })

  on('is reached once, however many processes find it out at once', async (ledger, { another }) => {
    const handles = [ledger, await another(), await another()]
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, nth) => reach(handles[nth % 3]!, 'x')))
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== null),
      ['reached'],
    )
    assert.deepEqual(await told(ledger), ['cap.reached 1'])
  })

  on('pauses for two caps that are reached at the same time', async (ledger, { another }) => {
    const handles = [ledger, await another()]
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all(['x', 'y'].map((name, nth) => reach(handles[nth]!, name)))
      assert.deepEqual(outcomes.sort(), ['paused', 'reached'])
      await ledger.changeSettings({ uploads: null }, 'looked at', AT)
    }
  })

  on('begins a condition once, with its notice, until it ends', async (ledger, { another }) => {
    const handles = [ledger, await another()]
    const begin = (handle: Ledger) => handle.raiseAlert('disk a', AT, { raises: 'disk.high', pause: null })
    const begun = await Promise.all(Array.from({ length: 8 }, (_, nth) => begin(handles[nth % 2]!)))
    assert.equal(begun.filter(Boolean).length, 1)
    assert.deepEqual(await told(ledger), ['disk.high 1'])
    await ledger.raiseAlert('quiet', AT, { raises: null, pause: null })
    assert.deepEqual(await told(ledger), [])
    const since = AT.getTime()
    assert.deepEqual(await handles[1]!.activeAlerts(), [
      { name: 'disk a', since },
      { name: 'quiet', since },
    ])
    await ledger.resolveAlerts(['disk a', 'no such'])
    assert.deepEqual(await ledger.activeAlerts(), [{ name: 'quiet', since }])
    assert.equal(await begin(ledger), true)
  })

  on('pauses with the condition that asks for it', async (ledger) => {
    await ledger.raiseAlert('unanswered', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await ledger.settings(), { uploads: 'paused' })
    await ledger.changeSettings({ uploads: null }, 'seen', AT)
    await ledger.raiseAlert('unanswered', AT, { raises: null, pause: PAUSE })
    assert.deepEqual(await ledger.settings(), {}, 'not again for the same')
    assert.deepEqual(await told(ledger), ['uploads.paused 1'])
  })

  onHooks(
    ['process'],
    'has told what it wrote down, whenever the process is killed',
    async (ledger, { process }) => {
      for (let round = 0; round < 3; round++) {
        const child = await process()
        const calls = Array.from({ length: 200 }, (_, nth) => `disk ${round}.${nth}`)
        void child
          .call(calls.map((name) => ['raiseAlert', name, AT, { raises: 'disk.high', pause: null }]))
          .catch(() => {})
        while ((await ledger.activeAlerts()).length === 0)
          await new Promise((resolve) => setTimeout(resolve, 1))
        await child.kill()
        // A database may be busy with the last words of a dead process: what it holds a lock on is told later.
        let heard = 0
        let begun: string[] = []
        await until('as many are told as began', async () => {
          for (const notice of await told(ledger)) heard += Number(/^disk\.high (\d+)$/.exec(notice)![1])
          begun = (await ledger.activeAlerts()).map(({ name }) => name)
          return heard > 0 && heard === begun.length
        })
        await ledger.resolveAlerts(begun)
      }
    },
  )
}
