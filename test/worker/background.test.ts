/** How long a request waits for calls that outlive its response. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBackground } from '../../src/worker/background.ts'

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
