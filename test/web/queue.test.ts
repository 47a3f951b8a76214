import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createThroughputMeter } from '../../src/client/api/throughput.ts'
import type { Compressed, Sent } from '../../src/client/types.ts'
import { createQueue, type Item, type Uploader } from '../../src/web/browser/upload/queue.ts'

interface Step<T> {
  name: string
  signal: AbortSignal | undefined
  resolve(value: T): void
  reject(error: unknown): void
}

interface Options {
  final?: (error: unknown) => boolean
  ask?: (item: Item) => boolean
  /** How often the uploader fails to load. */
  faults?: number
}

/** A fake client whose steps the test resolves. */
function setUp(options: Options = {}) {
  let { faults = 0 } = options
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
    async loadUploader() {
      if (faults-- > 0) throw new TypeError('Failed to fetch')
      return uploader
    },
    convert: true,
    maxBytes: 1000,
    mustAsk: options.ask ?? (() => false),
    isFinal: options.final ?? (() => false),
    onChange() {},
  })
  const add = (...names: string[]) => names.map((name) => queue.add(new File(['x'], name), 'auto', ''))
  const states = () => queue.items.map(({ state }) => state.at)
  const resolveAll = (steps: Step<Compressed>[]) => {
    for (const { name, resolve } of steps.splice(0))
      resolve({ blob: new File(['y'], name) } as unknown as Compressed)
  }
  return { queue, add, states, compressing, sending, resolveAll }
}

const SENT = { id: 'id' } as Sent

describe('upload queue', () => {
  it('uploads two items concurrently and compresses one ahead, in order', async () => {
    const { add, states, compressing, sending, resolveAll } = setUp()
    add('a', 'b', 'c', 'd', 'e')
    await turn()
    assert.deepEqual(states(), ['compressing', 'compressing', 'compressing', 'queued', 'queued'])
    resolveAll(compressing)
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

  it('continues after a failure, and does not compress again on retry', async () => {
    const { queue, add, states, compressing, sending, resolveAll } = setUp()
    const [a] = add('a', 'b', 'c')
    await turn()
    resolveAll(compressing)
    await turn()
    sending[0]!.reject(new Error('no'))
    await turn()
    assert.deepEqual(states(), ['failed', 'uploading', 'uploading'])
    const { idempotencyKey } = a!
    queue.retry(a!)
    await turn()
    assert.equal(
      a!.idempotencyKey,
      idempotencyKey,
      'the service may have stored it before the response was lost',
    )
    assert.deepEqual(states(), ['ready', 'uploading', 'uploading'])
    assert.equal(compressing.length, 0)
    sending[1]!.resolve(SENT)
    await turn()
    assert.deepEqual(states(), ['uploading', 'done', 'uploading'])
  })

  it('waits until the uploader can be loaded', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { queue, add, states } = setUp({ faults: 3 })
    const [, b] = add('a', 'b')
    await turn()
    assert.deepEqual(states(), ['waiting', 'waiting'])
    queue.cancel(b!)
    t.mock.timers.tick(3000)
    await turn()
    assert.deepEqual(states(), ['waiting', 'cancelled'])
    t.mock.timers.tick(3000)
    await turn()
    assert.deepEqual(states(), ['compressing', 'cancelled'])
  })

  it('fails all waiting items on an error that affects every upload', async () => {
    const { add, states, compressing, sending, resolveAll } = setUp({ final: () => true })
    add('a', 'b', 'c', 'd')
    await turn()
    resolveAll(compressing)
    await turn()
    sending[0]!.reject(new Error('quota'))
    await turn()
    assert.deepEqual(states(), ['failed', 'uploading', 'failed', 'failed'])
  })

  it('aborts cancelled items and starts the next one', async () => {
    const { queue, add, states, compressing, sending, resolveAll } = setUp()
    const [a, , , d] = add('a', 'b', 'c', 'd')
    await turn()
    queue.cancel(d!)
    queue.cancel(a!)
    await turn()
    assert.equal(compressing[0]!.signal?.aborted, true)
    assert.deepEqual(states(), ['cancelled', 'compressing', 'compressing', 'cancelled'])
    resolveAll(compressing)
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
    assert.notEqual(a!.idempotencyKey, idempotencyKey, 'the image stored under the old key may be deleted')
  })

  it('waits for confirmation before sending a location, without blocking other items', async () => {
    const { queue, add, states, compressing, resolveAll } = setUp({
      ask: ({ file, locationAllowed, mode }) =>
        file.name.startsWith('place') && !locationAllowed && mode === 'auto',
    })
    const [first, second] = add('place 1', 'place 2', 'c', 'd', 'e')
    await turn()
    resolveAll(compressing)
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
