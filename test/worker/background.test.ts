/** How long a request stays for calls behind its answer. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sleep } from '../../src/async.ts'
import { createBackground } from '../../src/worker/background.ts'

it('waits for calls that are under way, and not for one whose request was cut off', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  const background = createBackground()
  let end = () => {}
  const port = background.tracked({
    quick: () => new Promise<void>((resolve) => (end = resolve)),
    lost: () => new Promise<void>(() => {}),
  })
  void port.quick()
  let isQuiet = false
  const quiet = background.quiet().then(() => (isQuiet = true))
  await sleep(50)
  assert.equal(isQuiet, false)
  end()
  await quiet

  void port.lost()
  t.mock.timers.setTime(60_000)
  const later = background.quiet().then(() => true)
  const isNext = await Promise.race([later, sleep(1000).then(() => false)])
  t.mock.timers.setTime(120_000)
  assert.ok(isNext, 'a later request ends at once')
})
