/** Changed settings take effect from the first request of an isolate. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Ledger } from '../../src/stores/ledger.ts'
import type { ObjectStore } from '../../src/stores/object-store.ts'
import { gif } from '../support/images/tiny-images.ts'
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
  await assert.rejects(second.upload(gif()), /connection lost/)
  isUnavailable = false
  const { status } = await second.ask('GET', `/raw/${id}`)
  assert.equal(status, 503)
  assert.equal((await second.ask('GET', `/oembed?url=${SITE}/${id}`)).status, 503)
  isUnavailable = true
  t.mock.timers.setTime(Date.now() + 60_000)
  assert.equal((await second.ask('GET', `/raw/${id}`)).status, status)
})
