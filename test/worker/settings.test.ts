/** Changed settings take effect from the first request of an isolate. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Ledger } from '../../src/stores/ledger.ts'
import type { ObjectStore } from '../../src/stores/object-store.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { SITE, startHostHere } from '../support/worker/host-here.ts'

it('serves no image before it has read the settings, and falls back to the last known ones', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  let isUnavailable = false
  const between = <Port extends Ledger | ObjectStore>(port: Port): Port => {
    if (!('settings' in port)) return port
    const settings = async () => {
      if (isUnavailable) throw new Error('D1_ERROR: Network connection lost.')
      return port.settings()
    }
    return { ...port, settings }
  }
  const first = await startHostHere(t)
  const { id } = (await (await first.upload(gif())).json()) as { id: string }
  await first.ledger.changeSettings({ images: 'private' }, 'a leak', new Date())

  const second = await startHostHere(t, { stores: first, between })
  isUnavailable = true
  await assert.rejects(second.ask('GET', `/raw/${id}`), /connection lost/)
  const refused = await second.upload(gif())
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('X-RateLimit-Limit'), '100')
  assert.ok(refused.headers.has('X-RateLimit-Remaining'))
  isUnavailable = false
  const { status } = await second.ask('GET', `/raw/${id}`)
  assert.equal(status, 503)
  assert.equal((await second.ask('GET', `/oembed?url=${SITE}/${id}`)).status, 503)
  isUnavailable = true
  t.mock.timers.setTime(Date.now() + 60_000)
  assert.equal((await second.ask('GET', `/raw/${id}`)).status, status)
})

it('uses no old settings while another request reads newer ones', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { ask, upload, ledger } = await startHostHere(t)
  const { id } = (await (await upload(gif())).json()) as { id: string }
  const view = () => ask('GET', `/raw/${id}`)
  await ledger.changeSettings({ images: 'private', uploads: 'paused' }, 'a leak', new Date())
  t.mock.timers.setTime(Date.now() + 60_000)
  const answers = await Promise.all([view(), view(), upload(gif({ size: 100 }))])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 503, 503],
  )
  await ledger.changeSettings({ images: 'public', uploads: 'on' }, 'over', new Date())
  t.mock.timers.setTime(Date.now() + 2000)
  const [, accepted] = await Promise.all([view(), upload(gif({ size: 101 }))])
  assert.equal(accepted.status, 201, 'an upload never uses settings older than a second')
})

it('shows images without waiting for newer settings, for a minute, and never waits for long', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  let isHanging = false
  const between = <Port extends Ledger | ObjectStore>(port: Port): Port => {
    if (!('settings' in port)) return port
    return { ...port, settings: () => (isHanging ? new Promise(() => {}) : port.settings()) }
  }
  const { ask, upload, ledger } = await startHostHere(t, { between, waitsBehind: false })
  const { id } = (await (await upload(gif())).json()) as { id: string }
  const view = async () => (await ask('GET', `/raw/${id}`)).status
  const duration = async (work: () => Promise<unknown>) => {
    const from = performance.now()
    await work()
    return performance.now() - from
  }

  isHanging = true
  t.mock.timers.setTime(Date.now() + 59_000)
  assert.ok((await duration(view)) < 1000, 'known settings')
  t.mock.timers.setTime(Date.now() + 1000)
  const waited = await duration(view)
  assert.ok(waited > 1000 && waited < 5000, `old settings: ${waited} ms`)
  t.mock.timers.setTime(Date.now() + 1000)
  assert.ok((await duration(() => upload(gif({ size: 100 })))) < 5000, 'an upload')

  isHanging = false
  t.mock.timers.setTime(Date.now() + 1000)
  assert.equal(await view(), 200)
  await ledger.changeSettings({ images: 'private' }, 'a leak', new Date())
  t.mock.timers.setTime(Date.now() + 1000)
  await view()
  await until('the next view sees the change', async () => (await view()) === 503)
})
