/** Calls that outlive their response: how long a request waits for them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ledger } from '../../src/stores/ledger.ts'
import type { ObjectStore } from '../../src/stores/object-store.ts'
import { createBackground } from '../../src/worker/background.ts'
import { gif } from '../support/images/tiny-images.ts'
import { SITE, startHostHere } from '../support/worker/host-here.ts'

it('waits for calls in flight, but not for those of requests that were cut off', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 })
  const background = createBackground()
  let end = () => {}
  const port = background.tracked({
    quick: () => new Promise<void>((resolve) => (end = resolve)),
    lost: () => new Promise<void>(() => {}),
  })
  let isQuiet = false
  const quiet = () => {
    isQuiet = false
    background.quiet().then(() => (isQuiet = true))
    return nextTurn()
  }
  const pass = (ms: number) => {
    t.mock.timers.tick(ms)
    return nextTurn()
  }
  void port.quick()
  await quiet()
  await pass(1000)
  assert.equal(isQuiet, false)
  end()
  await pass(50)
  assert.equal(isQuiet, true)

  void port.lost()
  await pass(60_000)
  await quiet()
  assert.ok(isQuiet, 'a later request ends immediately')
})

it('answers an upload before D1 has confirmed its reservation', async (t) => {
  const between = <Port extends Ledger | ObjectStore>(port: Port): Port =>
    'confirmUpload' in port ? { ...port, confirmUpload: () => new Promise(() => {}) } : port
  const { upload } = await startHostHere(t, { between, waitsBehind: false })
  assert.equal((await upload(gif())).status, 201)
})

it('refuses uploads and deletions without an address, as they would all share one quota', async (t) => {
  const { host } = await startHostHere(t)
  for (const [method, path] of [
    ['POST', '/api/upload'],
    ['DELETE', '/api/delete?key=a'],
  ] as const) {
    const request = new Request(new URL(path, SITE), { method })
    assert.equal((await host.fetch(request, { waitUntil() {} })).status, 503)
  }
})
