/** What is derived from addresses lives for its day, and can't be read afterwards: in no page, log or file. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { Harness } from './harness.ts'

const [BEFORE, YESTERDAY, TODAY] = ['2026-07-29', '2026-07-30', '2026-07-31'] as const
const NOON_MS = 43_200_000

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** Uploads of many addresses. All that is derived from these. */
async function fill(ledger: Ledger, day: string, count = 300) {
  const salts = await Promise.all([ledger.daySalt(day), ledger.daySalt(day, 'links')])
  const uploads = Array.from({ length: count }, (_, nth) => ({
    bucket: hex(16),
    network: { bucket: hex(16), limit: 5 },
    tags: {
      id: `${day}${nth}`.slice(-11),
      atMs: Date.parse(day) + NOON_MS + nth,
      number: nth,
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
  // Some rows go while others stay.
  const given = uploads.slice(0, 50)
  for (const { bucket, network, tags } of given) {
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
  onHooks(['raw'], 'leaves no salt and no tag of a day that is over', async (ledger, { another, raw }) => {
    const other = await another()
    const old = await fill(ledger, BEFORE, 40)
    const past = await fill(ledger, YESTERDAY)
    const now = await fill(other, TODAY)
    const read = (texts: string[]) => raw().then((traces) => traces(texts))
    const inFiles = await read([...past.buckets, ...past.tags, ...now.tags])
    assert.ok(new Set(inFiles.map(({ text }) => text)).size > 1000, 'they are there before')
    // Not read by the other handle since, which has its files open.
    await ledger.forgetDaysBefore(TODAY)
    assert.deepEqual(await read([past.salts[0]!, old.salts[0]!, ...past.buckets, ...old.buckets]), [])
    assert.equal(await other.usedUploads(past.uploads[99]!.bucket, YESTERDAY), 0)
    await other.releaseUpload(past.uploads[99]!.bucket, YESTERDAY)
    assert.equal(await other.usedUploads(now.uploads[99]!.bucket, TODAY), 1)
    assert.deepEqual(await other.daySalt(TODAY), Uint8Array.from(Buffer.from(now.salts[0]!, 'hex')))
    assert.equal((await other.sameUploader(past.uploads[60]!.tags.id, 10)).length, 0)

    // Links of the day before yesterday are two days old.
    await ledger.forgetTagsBefore(Date.parse(YESTERDAY), YESTERDAY)
    assert.deepEqual(await read([old.salts[1]!, ...old.tags]), [])
    assert.equal((await read([past.tags[200]!])).length > 0, true, 'yesterday’s are kept')
    await ledger.forgetTagsBefore(Date.parse(TODAY) + NOON_MS, TODAY)
    assert.deepEqual(await read([past.salts[1]!, ...past.tags]), [])
    await ledger.forgetTagsBefore(Date.parse(TODAY) + 2 * NOON_MS, '2026-08-01')
    assert.deepEqual(await read([now.salts[1]!, ...now.tags]), [])
    assert.equal(await ledger.usedUploads(now.uploads[99]!.bucket, TODAY), 1)
    await ledger.forgetDaysBefore('2026-08-01')
    assert.deepEqual(await read([...now.salts, ...now.buckets]), [])
  })

  onHooks(['raw'], 'erases days of a clock that was ahead, with their links', async (ledger, { raw }) => {
    const today = await fill(ledger, TODAY, 20)
    const ahead = await fill(ledger, '2027-09-04', 20)
    await ledger.forgetDaysBefore(TODAY, '2026-08-01')
    const traces = await raw()
    assert.deepEqual(await traces([...ahead.salts, ...ahead.buckets, ...ahead.tags]), [])
    assert.equal(await ledger.usedUploads(today.uploads[19]!.bucket, TODAY), 0, 'it was given back')
    assert.deepEqual(await ledger.daySalt(TODAY), Uint8Array.from(Buffer.from(today.salts[0]!, 'hex')))
    assert.equal((await ledger.refusals(today.uploads[19]!.bucket, TODAY)).count, 1)
  })
}
