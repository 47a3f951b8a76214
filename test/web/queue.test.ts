import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Compressed, Sent } from '../../src/client/types.ts'
import { createQueue, type Item, type Uploader } from '../../src/web/browser/upload/queue.ts'
import { createThroughputMeter } from '../../src/web/browser/upload/throughput.ts'

interface Step<T> {
  name: string
  signal: AbortSignal | undefined
  resolve(value: T): void
  reject(error: unknown): void
}

/** A client whose every step waits for the test. */
function setUp(options: { final?: (error: unknown) => boolean; ask?: (item: Item) => boolean } = {}) {
  const compressing: Step<Compressed>[] = []
  const sending: Step<Sent>[] = []
  const step = <T>(steps: Step<T>[], name: string, signal: AbortSignal | undefined) =>
    new Promise<T>((resolve, reject) => {
      steps.push({ name, signal, resolve, reject })
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const uploader: Uploader = {
    compress: (file, { signal } = {}) => step(compressing, (file as File).name, signal),
    send: (blob, { signal } = {}) => step(sending, (blob as File).name, signal),
    meter: createThroughputMeter(),
  }
  const queue = createQueue({
    loadUploader: async () => uploader,
    convert: true,
    maxBytes: 1000,
    mustAsk: options.ask ?? (() => false),
    isFinal: options.final ?? (() => false),
    onChange() {},
  })
  const add = (...names: string[]) => names.map((name) => queue.add(new File(['x'], name), 'auto', ''))
  const states = () => queue.items.map(({ state }) => state.at)
  const compressed = (steps: Step<Compressed>[]) => {
    for (const { name, resolve } of steps.splice(0))
      resolve({ blob: new File(['y'], name) } as unknown as Compressed)
  }
  return { queue, add, states, compressing, sending, compressed }
}

const SENT = { id: 'id' } as Sent

describe('the queue', () => {
  it('sends two at a time, and compresses one ahead, in order', async () => {
    const { add, states, compressing, sending, compressed } = setUp()
    add('a', 'b', 'c', 'd', 'e')
    await turn()
    assert.deepEqual(states(), ['compressing', 'compressing', 'compressing', 'queued', 'queued'])
    compressed(compressing)
    await turn()
    assert.deepEqual(states(), ['uploading', 'uploading', 'ready', 'queued', 'queued'])
    assert.deepEqual(
      sending.map(({ name }) => name),
      ['a', 'b'],
    )
    sending[1]!.resolve(SENT)
    await turn()
    assert.deepEqual(states(), ['uploading', 'done', 'uploading', 'compressing', 'queued'])
  })

  it('goes on with the others when one fails, and does not compress it again when it is retried', async () => {
    const { queue, add, states, compressing, sending, compressed } = setUp()
    const [a] = add('a', 'b', 'c')
    await turn()
    compressed(compressing)
    await turn()
    sending[0]!.reject(new Error('no'))
    await turn()
    assert.deepEqual(states(), ['failed', 'uploading', 'uploading'])
    queue.retry(a!)
    await turn()
    assert.deepEqual(states(), ['ready', 'uploading', 'uploading'])
    assert.equal(compressing.length, 0)
    sending[1]!.resolve(SENT)
    await turn()
    assert.deepEqual(states(), ['uploading', 'done', 'uploading'])
  })

  it('gives up what waits when every upload would fail in the same way', async () => {
    const { add, states, compressing, sending, compressed } = setUp({ final: () => true })
    add('a', 'b', 'c', 'd')
    await turn()
    compressed(compressing)
    await turn()
    sending[0]!.reject(new Error('quota'))
    await turn()
    assert.deepEqual(states(), ['failed', 'uploading', 'failed', 'failed'])
  })

  it('ends the work on what is cancelled, and takes the next', async () => {
    const { queue, add, states, compressing, sending, compressed } = setUp()
    const [a, , , d] = add('a', 'b', 'c', 'd')
    await turn()
    queue.cancel(d!)
    queue.cancel(a!)
    await turn()
    assert.equal(compressing[0]!.signal?.aborted, true)
    assert.deepEqual(states(), ['cancelled', 'compressing', 'compressing', 'cancelled'])
    compressed(compressing)
    await turn()
    assert.deepEqual(
      sending.map(({ name }) => name),
      ['b', 'c'],
    )
    sending[0]!.resolve(SENT)
    sending[1]!.resolve(SENT)
    await turn()
    queue.cancel(queue.items[1]!)
    assert.deepEqual(states(), ['cancelled', 'done', 'done', 'cancelled'])
    const { idempotencyKey } = a!
    queue.retry(a!)
    assert.notEqual(a!.idempotencyKey, idempotencyKey, 'what it named may be deleted')
  })

  it('waits for the person’s word on a place, and holds up nobody meanwhile', async () => {
    const { queue, add, states, compressing, compressed } = setUp({
      ask: ({ file, locationAllowed, mode }) =>
        file.name.startsWith('place') && !locationAllowed && mode === 'auto',
    })
    const [first, second] = add('place 1', 'place 2', 'c', 'd', 'e')
    await turn()
    compressed(compressing)
    await turn()
    assert.deepEqual(states(), ['asking', 'asking', 'uploading', 'compressing', 'compressing'])
    queue.allowLocation(first!, true)
    queue.allowLocation(second!, false)
    await turn()
    assert.deepEqual(states().slice(0, 2), ['uploading', 'queued'])
    assert.equal(second?.mode, 'lossless')
    assert.equal(second?.compressed, undefined)
  })
})
