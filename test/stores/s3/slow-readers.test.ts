/** Clients that read slowly hold no connection to the store that others need. */
import assert from 'node:assert/strict'
import { onFake, QUICK } from '../../support/s3/on-fake.ts'
import { assertSameBytes, bodyOf, bytesFor, idFor, put } from '../../support/stored-images.ts'

const { withStore } = onFake()
const [LARGE, SMALL] = [idFor('a'), idFor('b')]

/** More than there are connections. */
const READERS = 300

withStore(
  'hundreds of images that nobody reads keep no request waiting, and can be read to their ends',
  async ({ store }) => {
    const bytes = bytesFor(1, 400_000)
    await put(store, LARGE, bytes)
    const images = await Promise.all(Array.from({ length: READERS }, () => store.open(LARGE)))
    await put(store, SMALL, bytesFor(2, 2000))
    assert.ok(await store.head(SMALL))
    await Promise.all(images.map(async (image) => assertSameBytes(await bodyOf(image!), bytes)))
    assert.equal(await store.remove(LARGE), true)
  },
  { retryPolicy: { ...QUICK, attempts: 1, idleMs: 60_000 } },
)
