/** Holds that race with a listing, which removes abandoned copies; and a copy that fails. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MARKER_HEADER } from '../../../src/stores/s3/objects.ts'
import { createTransport } from '../../../src/stores/s3/transport.ts'
import { type FakeS3, startFakeS3 } from '../../support/s3/fake-s3.ts'
import { on, onFake } from '../../support/s3/on-fake.ts'
import { type OpenedS3, openS3UnderTest, withClockOffset } from '../../support/s3/under-test.ts'
import { assertHeld, bytesFor, heldOf, idFor, put } from '../../support/stored-images.ts'

const ID = idFor('a')
const HOUR_MS = 3_600_000
const { withStore } = onFake()

/** Calls `run` after a hold has copied the image and before it puts the marker. `finish` lets the hold continue. */
async function whileHolding(
  aheadMs: number,
  run: (opened: OpenedS3, fake: FakeS3, finish: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const fake = await startFakeS3()
  const inner = createTransport(fake.endpoint)
  const [reached, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const transport = withClockOffset(
    {
      async send(request) {
        if (request.headers[MARKER_HEADER]?.startsWith('held')) {
          reached.resolve()
          await proceed.promise
        }
        return inner.send(request)
      },
      close: () => inner.close(),
    },
    aheadMs,
  )
  const opened = await openS3UnderTest(fake, { transport })
  try {
    await put(opened.store, ID, bytesFor(1, 3000))
    const holding = opened.store.hold(ID)
    await reached.promise
    await run(opened, fake, () => {
      proceed.resolve()
      return holding
    })
  } finally {
    await opened.close()
    await fake.close()
  }
}

function copyIn(fake: FakeS3, { prefix }: OpenedS3): string {
  const key = [...fake.objects.keys()].find((each) => each.startsWith(`${prefix}held/`))
  assert.ok(key !== undefined, 'there is a copy')
  return key
}

describe('a hold', () => {
  test('keeps its copy although another machine’s clock is an hour ahead of the store’s', async () => {
    await whileHolding(-HOUR_MS, async (opened, fake, finish) => {
      const key = copyIn(fake, opened)
      const copy = fake.objects.get(key)!
      fake.objects.set(key, { ...copy, modifiedAt: new Date(copy.modifiedAt.getTime() - HOUR_MS) })
      const { store } = opened
      const record = (await store.head(ID))!
      assert.deepEqual(await heldOf(store), [])
      assert.equal(await finish(), true)
      await assertHeld(store, record, bytesFor(1, 3000))
    })
  })

  test('returns false if its copy is gone', async () => {
    await whileHolding(0, async (opened, fake, finish) => {
      fake.objects.delete(copyIn(fake, opened))
      assert.equal(await finish(), false)
    })
  })
})

withStore('a hold repeats a copy that fails after its answer has begun', async ({ store }, fake) => {
  const record = await put(store, ID, bytesFor(1, 3000))
  const body = '<Error><Code>InternalError</Code></Error>'
  fake.faults.add({ kind: 'answer', status: 200, body }, { on: on('PUT', /held\//) })
  assert.equal(await store.hold(ID), true)
  await assertHeld(store, record, bytesFor(1, 3000))
})

test('a hold never takes the marker of another one for the image', async () => {
  const fake = await startFakeS3()
  const inner = createTransport(fake.endpoint)
  let copies = 0
  const opened = await openS3UnderTest(fake, {
    transport: {
      async send(request) {
        const isRaced = 'x-amz-copy-source' in request.headers && ++copies === 1
        if (isRaced) assert.equal(await opened.store.hold(ID), true)
        const reply = await inner.send(request)
        // The image has the same ETag as before.
        if (isRaced) assert.equal(await opened.store.release(ID), true)
        return reply
      },
      close: () => inner.close(),
    },
  })
  try {
    const record = await put(opened.store, ID, bytesFor(1, 3000))
    assert.equal(await opened.store.hold(ID), true)
    await assertHeld(opened.store, record, bytesFor(1, 3000))
  } finally {
    await opened.close()
    await fake.close()
  }
})
