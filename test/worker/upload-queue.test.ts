/** The memory that drafts of one isolate may take, and whose turn it is. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { LIMITS } from '../../src/worker/limits.ts'
import { createUploadQueue } from '../../src/worker/upload-queue.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const MB = 1024 * 1024
const quick = { ...LIMITS, pollMs: 1, firstRetryMs: 1, maxRetryMs: 4, waitMs: 60_000 }
const client = (address: string) => ({ address, network: address, waitingBytes: 0, onGone: () => () => {} })

it('never lets drafts take more than the budget, and serves all that wait', async () => {
  const queue = createUploadQueue(quick, 100)
  let most = 0
  const upload = async (nth: number) => {
    const turn = await queue.queueFor(25 * MB).enter(client(`${nth}`), async () => 'admitted')
    most = Math.max(most, queue.heldBytes())
    await new Promise((resolve) => setTimeout(resolve, 2))
    turn.end()
  }
  await Promise.all(Array.from({ length: 30 }, (_, nth) => upload(nth)))
  assert.equal(most, 50 * MB)
  assert.ok(queue.peakBytes() <= LIMITS.draftBytes)
  assert.equal(queue.heldBytes(), 0)
})

it('keeps the drafts of a whole host within the budget, and its counter ends at nothing', async (t) => {
  const budget = 8 * MB
  const { host, upload } = await startHostHere(t, {
    variables: { MAX_UPLOAD_BYTES: `${3 * MB}` },
    limits: { draftBytes: budget },
  })
  const bytes = gif({ size: 2 * MB })
  // Every second one says how long it is; of the others the most is counted that one may have.
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, nth) =>
      upload(bytes, nth % 2 === 0 ? {} : { 'Content-Length': `${bytes.length + 300}` }),
    ),
  )
  for (const { status } of answers) assert.ok(status === 201 || status === 503, `${status}`)
  assert.ok(answers.some(({ status }) => status === 201))
  assert.ok(host.uploadQueue.peakBytes() > budget / 2 && host.uploadQueue.peakBytes() <= budget)
  assert.equal(host.uploadQueue.heldBytes(), 0)
})

it('counts small uploads by the blocks of memory that their drafts take', async () => {
  const queue = createUploadQueue(quick, 1000)
  for (const [bytes, held] of [
    [1, 1],
    [MB, 2],
    [MB + 1, 4],
  ] as const) {
    await queue.queueFor(bytes).enter(client('a'), async () => 'admitted')
    assert.equal(queue.heldBytes(), held * MB)
  }
})

it('reads as many uploads of an address at once as it may, and others beside them', async () => {
  const queue = createUploadQueue(quick, 2)
  const admit = async () => 'admitted'
  const turns = [
    await queue.queueFor(1).enter(client('a'), admit),
    await queue.queueFor(1).enter(client('a'), admit),
  ]
  let isThird = false
  const third = queue.queueFor(1).enter(client('a'), async () => {
    isThird = true
    return 'admitted'
  })
  const other = await queue.queueFor(1).enter(client('b'), admit)
  assert.equal(isThird, false)
  turns[0]!.end()
  await third
  for (const turn of [turns[1]!, await third, other]) turn.end()
  assert.deepEqual(queue.queueFor(1).counts(), { reading: 0, waiting: 0 })
})

it('refuses who waited too long, and who finds the line full', async () => {
  const queue = createUploadQueue({ ...quick, waitMs: 20, waitingOfAddress: 1 }, 1)
  const turn = await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const waiting = queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const isBusy = (error: unknown) => error instanceof Refusal && error.code === 'busy'
  await assert.rejects(
    queue.queueFor(1).enter(client('a'), async () => 'admitted'),
    isBusy,
  )
  await assert.rejects(waiting, isBusy)
  turn.end()
  ;(await queue.queueFor(1).enter(client('a'), async () => 'admitted')).end()
})

it('asks again for what depends on others, and gives back the turn of one that throws', async () => {
  const queue = createUploadQueue(quick, 1)
  let asked = 0
  const turn = await queue.queueFor(1).enter(client('a'), async () => (++asked < 5 ? null : 'admitted'))
  assert.equal(asked, 5)
  turn.end()
  await assert.rejects(
    queue.queueFor(1).enter(client('a'), async () => {
      throw new Error('no')
    }),
    /no/,
  )
  assert.deepEqual(queue.queueFor(1).counts(), { reading: 0, waiting: 0 })
})

it('takes back the turn of one that was cut off without a word', async () => {
  const queue = createUploadQueue({ ...quick, lostMs: 30 }, 1)
  await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const next = queue.queueFor(1).enter(client('a'), async () => 'admitted')
  await until('the lost one is forgotten', () => queue.queueFor(1).counts().waiting === 0)
  ;(await next).end()
})
