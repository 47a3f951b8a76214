/** What the hourly trigger erases. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../support/images/tiny-images.ts'
import { startHostHere } from '../support/worker/host-here.ts'

it('erases reports a month after their image, and sealed evidence after a year', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-07-01T12:00:30Z') })
  const { ask, upload, trigger, ledger, files } = await startHostHere(t)
  const { id, key } = (await (await upload(gif())).json()) as { id: string; key: string }
  const body = JSON.stringify({
    image: id,
    category: 'other',
    text: 'This is a picture of my garden.',
    goodFaith: true,
  })
  const report = { headers: { 'Content-Type': 'application/json' }, body }
  assert.equal((await ask('POST', '/api/report', report)).status, 202)
  assert.equal((await ask('DELETE', `/api/delete?key=${key}`)).status, 200)
  const [old, kept] = [`2026-06-30-${id}.sealed`, `2026-07-01-${id}.sealed`]
  for (const name of [old, kept]) await files.write(name, new Uint8Array(1))
  const texts = async () => (await ledger.reportsOf(id, 10)).map(({ text }) => text)

  await trigger()
  assert.deepEqual(await texts(), ['This is a picture of my garden.'])
  assert.deepEqual(await files.names(), [kept])
  t.mock.timers.setTime(Date.now() + 31 * 86_400_000)
  await trigger()
  assert.deepEqual(await texts(), [''])
})
