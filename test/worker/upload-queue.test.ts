/** The upload queue of an isolate: memory budget, fairness and lost requests. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../../src/errors.ts'
import { LIMITS } from '../../src/worker/limits.ts'
import { createUploadQueue } from '../../src/worker/upload-queue.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startHostHere } from '../support/worker/host-here.ts'

const MB = 1024 * 1024
const quick = { ...LIMITS, pollMs: 1, firstRetryMs: 1, maxRetryMs: 4, waitMs: 60_000 }
const client = (address: string, network = address) => ({
  address,
  network,
  waitingBytes: 0,
  onDisconnect: () => () => {},
})

it('keeps drafts within the memory budget and serves all queued uploads', async () => {
  const queue = createUploadQueue(quick, 100)
  let max = 0
  const upload = async (i: number) => {
    const slot = await queue.queueFor(25 * MB).enter(client(`${i}`), async () => 'admitted')
    max = Math.max(max, queue.heldBytes())
    await new Promise((resolve) => setTimeout(resolve, 2))
    slot.end()
  }
  await Promise.all(Array.from({ length: 30 }, (_, i) => upload(i)))
  assert.equal(max, 50 * MB)
  assert.equal(queue.heldBytes(), 0)
})

it('keeps the drafts of a whole host within the budget and frees all memory in the end', async (t) => {
  const budget = 8 * MB
  let peak = 0
  const { host, upload } = await startHostHere(t, {
    variables: { MAX_UPLOAD_BYTES: `${3 * MB}` },
    limits: { draftBytes: budget },
    between(port) {
      if (!('draft' in port)) return port
      const draft: typeof port.draft = (...args) => {
        peak = Math.max(peak, host.uploadQueue.heldBytes())
        return port.draft(...args)
      }
      return { ...port, draft }
    },
  })
  const bytes = gif({ size: 2 * MB })
  // Every second upload has a Content-Length; the others count with the maximum size.
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      upload(bytes, {
        'CF-Connecting-IP': `198.51.${i}.7`,
        ...(i % 2 === 0 ? {} : { 'Content-Length': `${bytes.length + 300}` }),
      }),
    ),
  )
  for (const { status } of answers) assert.ok(status === 201 || status === 503, `${status}`)
  assert.ok(answers.some(({ status }) => status === 201))
  assert.ok(peak > budget / 2 && peak <= budget, `${peak}`)
  assert.equal(host.uploadQueue.heldBytes(), 0)
  peak = 0
  await upload(gif(), { 'Content-Length': '300' })
  assert.equal(peak, MB, 'a small upload takes little of the budget')
})

it('counts small uploads by the memory blocks of their drafts', async () => {
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

it('admits an upload larger than the whole budget alone', async () => {
  const queue = createUploadQueue(quick, 1)
  await queue.queueFor(100 * MB).enter(client('a'), async () => 'admitted')
  assert.equal(queue.heldBytes(), LIMITS.draftBytes)
})

it('lets no small upload overtake a large one that waits for memory', async () => {
  const queue = createUploadQueue(quick, 1)
  const enter = (address: string, bytes: number) =>
    queue.queueFor(bytes).enter(client(address), async () => 'admitted')
  const reading = [await enter('a', 25 * MB), await enter('b', 25 * MB)]
  const waiting = [enter('c', 25 * MB), enter('d', MB)]
  await nextTurn()
  assert.equal(queue.heldBytes(), 50 * MB)
  for (const { end } of reading) end()
  for (const entered of waiting) (await entered).end()
})

it('limits concurrent uploads per address without blocking other addresses', async () => {
  const queue = createUploadQueue(quick, 2)
  const admit = async () => 'admitted'
  const slots = [
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
  slots[0]!.end()
  await third
  for (const slot of [slots[1]!, await third, other]) slot.end()
  assert.equal(queue.heldBytes(), 0)
})

it('does not let one network use all memory or fill the queue', async () => {
  const queue = createUploadQueue({ ...quick, waitMs: 1000, waiting: 4 }, 16)
  const enter = (address: string, network: string, bytes = 25 * MB) =>
    queue.queueFor(bytes).enter(client(address, network), async () => 'admitted')
  // Earlier uploads of a network do not count.
  ;(await enter('b', 'b')).end()
  const reading = [await enter('a1', 'a'), await enter('a1', 'a')]
  const waiting = [enter('a1', 'a', 12 * MB), enter('a2', 'a', 12 * MB)]
  await assert.rejects(enter('a3', 'a', 12 * MB), { message: /queue of this server is full/ })
  reading.push(await enter('b', 'b', 12 * MB))
  assert.equal(queue.heldBytes(), 62 * MB)
  for (const { end } of reading) end()
  for (const entered of waiting) (await entered).end()
  assert.equal(queue.heldBytes(), 0)
})

it('refuses uploads that waited too long or find the queue full', async () => {
  const queue = createUploadQueue({ ...quick, waitMs: 20, maxWaitingPerAddress: 1 }, 1)
  const slot = await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const waiting = queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const isBusy = (error: unknown) => error instanceof Refusal && error.code === 'busy'
  await assert.rejects(
    queue.queueFor(1).enter(client('a'), async () => 'admitted'),
    isBusy,
  )
  await assert.rejects(waiting, isBusy)
  slot.end()
  ;(await queue.queueFor(1).enter(client('a'), async () => 'admitted')).end()
})

it('retries admission that depends on other uploads, and frees the slot when admission throws', async () => {
  const queue = createUploadQueue(quick, 1)
  let attempts = 0
  const slot = await queue.queueFor(1).enter(client('a'), async () => (++attempts < 5 ? null : 'admitted'))
  assert.equal(attempts, 5)
  slot.end()
  await assert.rejects(
    queue.queueFor(1).enter(client('a'), async () => {
      throw new Error('no')
    }),
    /no/,
  )
  assert.equal(queue.heldBytes(), 0)
})

it('admits other addresses while one depends on uploads in other isolates, and its own in order', async () => {
  const queue = createUploadQueue(quick, 2)
  let isPossible = false
  const depending = queue.queueFor(1).enter(client('a'), async () => (isPossible ? 'admitted' : null))
  await nextTurn()
  const next = queue.queueFor(1).enter(client('a'), async () => `${isPossible}`)
  const other = await queue.queueFor(1).enter(client('b'), async () => 'admitted')
  isPossible = true
  assert.equal((await next).admitted, 'true')
  for (const slot of [other, await depending, await next]) slot.end()
  assert.equal(queue.heldBytes(), 0)
})

it('refuses an upload whose client disconnects in the queue', async () => {
  const queue = createUploadQueue(quick, 1)
  const slot = await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  let disconnect = () => {}
  const onDisconnect = (listener: () => void) => {
    disconnect = listener
    return () => {}
  }
  const waiting = queue.queueFor(1).enter({ ...client('a'), onDisconnect }, async () => 'admitted')
  disconnect()
  await assert.rejects(waiting, { message: /connection was lost/ })
  slot.end()
})

it('frees the slot of an upload that was cut off silently', async () => {
  const queue = createUploadQueue({ ...quick, lostMs: 30 }, 1)
  const lost = await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  const next = await queue.queueFor(1).enter(client('a'), async () => 'admitted')
  // It was only slow.
  lost.end()
  next.end()
  assert.equal(queue.heldBytes(), 0)
})

it('retries admission less and less often, and keeps the slot of an upload that is still sending', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 })
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += LIMITS.pollMs) {
      await nextTurn()
      t.mock.timers.tick(LIMITS.pollMs)
    }
    await nextTurn()
  }
  const queue = createUploadQueue(LIMITS, 1)
  const attempts: number[] = []
  const first = queue.queueFor(1)
  const entering = first.enter(client('a'), async () => (attempts.push(Date.now()) < 4 ? null : 'admitted'))
  await pass(1000)
  assert.deepEqual(attempts, [0, 100, 300, 700])
  const slot = await entering

  let isSecond = false
  t.mock.timers.tick(LIMITS.lostMs)
  first.touch()
  t.mock.timers.tick(LIMITS.lostMs - 10_000)
  const second = queue.queueFor(1).enter(client('a'), async () => {
    isSecond = true
    return 'admitted'
  })
  await pass(1000)
  assert.equal(isSecond, false)
  slot.end()
  await pass(1000)
  ;(await second).end()
})
