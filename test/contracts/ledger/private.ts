/** Data derived from addresses lives for its day, and can't be recovered afterwards from any page, log or file. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'

const [BEFORE, YESTERDAY, TODAY] = ['2026-07-29', '2026-07-30', '2026-07-31'] as const
const NOON_MS = 43_200_000

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** Makes uploads from many addresses. Resolves to everything derived from these addresses. */
async function fill(ledger: Ledger, day: string, count = 300) {
  const salts = await Promise.all([ledger.daySalt(day), ledger.daySalt(day, 'links')])
  const uploads = Array.from({ length: count }, (_, index) => ({
    bucket: hex(16),
    network: { bucket: hex(16), limit: 5 },
    tags: {
      id: `${day}${index}`.slice(-11),
      atMs: Date.parse(day) + NOON_MS + index,
      number: index,
      tagA: hex(16),
      tagB: hex(16),
    },
  }))
  const reserved = await Promise.all(
    uploads.map(({ bucket, network, tags }) =>
      ledger.reserveUpload(bucket, day, 9, undefined, { network, tags, reservedAtMs: 1 }),
    ),
  )
  assert.deepEqual(new Set(reserved), new Set([1]))
  // Deletes some rows, so that pages have free space.
  const released = uploads.slice(0, 50)
  for (const { bucket, network, tags } of released) {
    await ledger.releaseUpload(bucket, day, 10, { network, tags })
  }
  return {
    uploads,
    salts: salts.map((salt) => Buffer.from(salt).toString('hex')),
    buckets: uploads.flatMap(({ bucket, network }) => [bucket, network.bucket]),
    tags: uploads.flatMap(({ tags: { tagA, tagB } }) => [tagA, tagB]),
  }
}

export function privateCases({ onHooks }: Harness): void {
  onHooks(['raw'], 'leaves no trace of salts and tags of past days', async (ledger, { another, raw }) => {
    const other = await another()
    const old = await fill(ledger, BEFORE, 40)
    const past = await fill(ledger, YESTERDAY)
    const now = await fill(other, TODAY)
    const read = (texts: string[]) => raw().then((traces) => traces(texts))
    const inFiles = await read([...past.buckets, ...past.tags, ...now.tags])
    assert.ok(new Set(inFiles.map(({ text }) => text)).size > 1000, 'traces exist before')
    // The other handle still has its files open.
    await ledger.eraseDaysBefore(TODAY)
    assert.deepEqual(await read([past.salts[0]!, old.salts[0]!, ...past.buckets, ...old.buckets]), [])
    assert.equal(await other.usedUploads(past.uploads[99]!.bucket, YESTERDAY), 0)
    await other.releaseUpload(past.uploads[99]!.bucket, YESTERDAY)
    assert.equal(await other.usedUploads(now.uploads[99]!.bucket, TODAY), 1)
    assert.deepEqual(await other.daySalt(TODAY), Uint8Array.from(Buffer.from(now.salts[0]!, 'hex')))
    assert.equal((await other.sameUploader(past.uploads[60]!.tags.id, 10)).length, 0)

    // Links of the day before yesterday have expired.
    await ledger.forgetTagsBefore(Date.parse(YESTERDAY), YESTERDAY)
    assert.deepEqual(await read([old.salts[1]!, ...old.tags]), [])
    assert.equal((await read([past.tags[200]!])).length > 0, true, 'yesterday’s are kept')
    await ledger.forgetTagsBefore(Date.parse(TODAY) + NOON_MS, TODAY)
    assert.deepEqual(await read([past.salts[1]!, ...past.tags]), [])
    await ledger.forgetTagsBefore(Date.parse(TODAY) + 2 * NOON_MS, '2026-08-01')
    assert.deepEqual(await read([now.salts[1]!, ...now.tags]), [])
    assert.equal(await ledger.usedUploads(now.uploads[99]!.bucket, TODAY), 1)
    await ledger.eraseDaysBefore('2026-08-01')
    assert.deepEqual(await read([...now.salts, ...now.buckets]), [])
  })

  onHooks(
    ['raw'],
    'erases days written by a clock that was ahead, including their links',
    async (ledger, { raw }) => {
      const today = await fill(ledger, TODAY, 20)
      const ahead = await fill(ledger, '2027-09-04', 20)
      await ledger.eraseDaysBefore(TODAY, '2026-08-01')
      const traces = await raw()
      assert.deepEqual(await traces([...ahead.salts, ...ahead.buckets, ...ahead.tags]), [])
      assert.equal(await ledger.usedUploads(today.uploads[19]!.bucket, TODAY), 0, 'it was released')
      assert.deepEqual(await ledger.daySalt(TODAY), Uint8Array.from(Buffer.from(today.salts[0]!, 'hex')))
      assert.equal((await ledger.refusals(today.uploads[19]!.bucket, TODAY)).count, 1)
    },
  )
}
