import assert from 'node:assert/strict'
import type { Ledger, ReservationExtras } from '../../../src/stores/ledger.ts'
import { NETWORK_TAG_LENGTH } from '../../../src/stores/uploader-tags.ts'
import type { Harness } from './harness.ts'

const DAY = '2026-07-31'
const AT = Date.parse('2026-07-31T12:00:00Z')
const id = (index: number) => `${index}`.padStart(11, '0')
const tagged = (index: number, tagA = 'a', tagB = 'b', atMs = AT): ReservationExtras => ({
  tags: { id: id(index), atMs, number: ++serial, tagA, tagB },
})
let serial = 0
const networkOf = (limit: number, bucket = 'net'): ReservationExtras => ({ network: { bucket, limit } })

export function capacityCases({ on }: Harness): void {
  on('grants capacity up to the limit, the whole amount or nothing', async (ledger) => {
    assert.equal(await ledger.takeCapacity('x', DAY, 11, 10), false)
    assert.equal(await ledger.takeCapacity('x', DAY, 7, 10), true)
    assert.equal(await ledger.takeCapacity('x', DAY, 4, 10), false)
    assert.equal(await ledger.takeCapacity('x', DAY, 3, 10), true)
    assert.equal(await ledger.usedCapacity('x', DAY), 10)
    assert.equal(await ledger.usedCapacity('y', DAY), 0)
    await ledger.releaseCapacity('x', DAY, 4)
    assert.equal(await ledger.takeCapacity('x', DAY, 4, 10), true)
    assert.equal(await ledger.takeCapacity('x', '2026-08-01', 10, 10), true, 'another day')
    assert.equal(await ledger.takeCapacity('y', DAY, 10, 10), true, 'another name')
    await ledger.releaseCapacity('x', DAY, 100)
    assert.equal(await ledger.usedCapacity('x', DAY), 0)
    assert.equal(await ledger.usedCapacity('y', DAY), 10)
  })

  // Challenges are single-use, and passes have a limited number of uses.
  on(
    'grants a capacity of one to exactly one concurrent caller, and forgets it after its day',
    async (ledger, { another, concurrently }) => {
      const takes = await concurrently(30, (handle) => handle.takeCapacity('challenge a', DAY, 1, 1))
      assert.equal(takes.filter(Boolean).length, 1)
      // A future day, as for a pass that expires tomorrow.
      assert.equal(await ledger.takeCapacity('pass a', '2026-08-01', 1, 100), true)
      await ledger.eraseDaysBefore('2026-07-31', '2026-08-01')
      const other = await another()
      assert.equal(await other.takeCapacity('challenge a', DAY, 1, 1), false)
      assert.equal(await other.usedCapacity('pass a', '2026-08-01'), 1)
      await ledger.eraseDaysBefore('2026-08-01', '2026-08-02')
      assert.equal(await ledger.usedCapacity('challenge a', DAY), 0)
      assert.equal(await ledger.usedCapacity('pass a', '2026-08-01'), 1)
    },
  )

  on('counts uploads per network as well as per address', async (ledger) => {
    assert.equal(await reserve(ledger, 'a', networkOf(3)), 1)
    assert.equal(await reserve(ledger, 'a', networkOf(3)), 2)
    assert.equal(await reserve(ledger, 'b', networkOf(3)), 1)
    assert.equal(await reserve(ledger, 'b', networkOf(3)), 'network-full')
    assert.equal(await ledger.usedUploads('b', DAY), 1, 'a refusal by the network costs the address nothing')
    assert.equal(await reserve(ledger, 'b', networkOf(3, 'other')), 2)
    assert.equal(await reserve(ledger, 'b', {}), 3)
    await ledger.releaseUpload('a', DAY, undefined, networkOf(3))
    assert.equal(await ledger.usedUploads('a', DAY), 1)
    assert.equal(await reserve(ledger, 'c', networkOf(3)), 1)
  })

  on('counts nothing for the network when the quota of the address is used up', async (ledger) => {
    assert.equal(await reserve(ledger, 'a', networkOf(5), 1), 1)
    for (let index = 0; index < 9; index++) assert.equal(await reserve(ledger, 'a', networkOf(5), 1), null)
    for (const bucket of ['b', 'c', 'd', 'e']) assert.equal(await reserve(ledger, bucket, networkOf(5), 1), 1)
    assert.equal(await reserve(ledger, 'f', networkOf(5), 1), 'network-full')
  })

  on('counts concurrent reservations per network exactly', async (ledger, { concurrently }) => {
    const answers = await concurrently(60, async (handle, index) => {
      const extras = { ...networkOf(20), ...tagged(index) }
      const reserved = await reserve(handle, `b${index % 7}`, extras)
      if (typeof reserved === 'number' && index % 5 === 0) {
        await handle.releaseUpload(`b${index % 7}`, DAY, undefined, extras)
        return null
      }
      return reserved
    })
    const kept = answers.filter((answer) => typeof answer === 'number').length
    assert.ok(kept <= 20, `${kept}`)
    let left = 0
    while ((await reserve(ledger, 'last', networkOf(20))) !== 'network-full') left++
    assert.equal(kept + left, 20)
  })

  on('finds uploads by the same uploader by either tag', async (ledger, { another }) => {
    const other = await another()
    await reserve(ledger, 'x', tagged(1, 'a1', 'b1', AT))
    await reserve(ledger, 'x', tagged(2, 'a1', 'b2', AT + 1))
    await reserve(ledger, 'x', tagged(3, 'a2', 'b1', AT + 2))
    await reserve(ledger, 'x', tagged(4, 'a2', 'b2', AT + 3))
    await reserve(ledger, 'x', tagged(5, 'b1', 'a1', AT + 4))
    assert.deepEqual(await other.sameUploader(id(1), 10), [id(3), id(2)])
    assert.deepEqual(await other.sameUploader(id(1), 1), [id(3)])
    assert.deepEqual(await other.sameUploader(id(9), 10), [])
  })

  on('finds uploads from the same network by the prefix of either tag', async (ledger, { another }) => {
    const other = await another()
    const tag = (network: string, address: string) => network.padEnd(NETWORK_TAG_LENGTH, '0') + address
    const uploads: [string, string][] = [
      [tag('n1', 'x'), tag('m1', 'x')],
      [tag('n1', 'y'), tag('m2', 'y')],
      [tag('n2', 'y'), tag('m1', 'z')],
      [tag('n2', 'x'), tag('m2', 'x')],
      [tag('m1', 'x'), tag('n1', 'x')],
    ]
    for (const [index, [a, b]] of uploads.entries()) {
      await reserve(ledger, 'x', tagged(index + 1, a, b, AT + index))
    }
    assert.deepEqual(await other.sameNetwork(id(1), 10), [id(3), id(2)])
    assert.deepEqual(await other.sameNetwork(id(1), 1), [id(3)])
    assert.deepEqual(await other.sameUploader(id(1), 10), [])
    assert.deepEqual(await other.sameNetwork(id(9), 10), [])
  })

  on('lists uploads in a time range, newest first', async (ledger, { another }) => {
    for (const index of [1, 2, 3, 4])
      await reserve(ledger, 'x', tagged(index, `a${index}`, `b${index}`, AT + index))
    const other = await another()
    assert.deepEqual(await other.uploadedBetween(AT + 2, AT + 4, 10), [id(3), id(2)])
    assert.deepEqual(await other.uploadedBetween(AT, AT + 9, 2), [id(4), id(3)])
    assert.deepEqual(await other.uploadedBetween(AT + 5, AT + 9, 10), [])
  })

  on('does not link uploads that were refused or released', async (ledger) => {
    await reserve(ledger, 'x', tagged(1), 1)
    assert.equal(await reserve(ledger, 'x', tagged(2), 1), null)
    const third = { ...tagged(3), ...networkOf(1) }
    assert.equal(await reserve(ledger, 'y', third), 1)
    assert.equal(await reserve(ledger, 'z', { ...tagged(4), ...networkOf(1) }), 'network-full')
    assert.deepEqual(await ledger.sameUploader(id(1), 10), [id(3)])
    await ledger.releaseUpload('y', DAY, undefined, third)
    assert.deepEqual(await ledger.sameUploader(id(1), 10), [])
  })

  on('keeps the tags of an image when a concurrent repeat of its upload is released', async (ledger) => {
    await reserve(ledger, 'x', tagged(1))
    await reserve(ledger, 'x', tagged(2))
    const again = tagged(1)
    await reserve(ledger, 'x', again)
    assert.deepEqual(await ledger.sameUploader(id(2), 10), [id(1)])
    await ledger.releaseUpload('x', DAY, undefined, again)
    assert.deepEqual(await ledger.sameUploader(id(2), 10), [id(1)])
    await reserve(ledger, 'y', tagged(1, 'a2', 'b2'))
    await reserve(ledger, 'y', tagged(3, 'a2', 'b2'))
    assert.deepEqual(new Set(await ledger.sameUploader(id(1), 10)), new Set([id(2), id(3)]))
  })

  on('accepts an admin token once, and not after it expires', async (ledger, { concurrently }) => {
    const token = { sha256: 'a', kind: 'login', who: 'ann', expiresAt: 100, endsAt: 100 } as const
    await ledger.putToken(token, 0)
    assert.equal(await ledger.takeToken('a', 'session', 50), null, 'of a different kind')
    const answers = await concurrently(10, (handle) => handle.takeToken('a', 'login', 50))
    assert.deepEqual(
      answers.filter((who) => who !== null),
      ['ann'],
    )
    await ledger.putToken({ ...token, sha256: 'b', kind: 'session', endsAt: 250 }, 0)
    assert.equal(await ledger.renewToken('b', 'session', 50, 200), 'ann')
    assert.equal(await ledger.renewToken('b', 'session', 150, 300), 'ann')
    assert.equal(await ledger.renewToken('b', 'session', 250, 400), null, 'past endsAt')
    await ledger.putToken({ ...token, sha256: 'c' }, 0)
    assert.equal(await ledger.takeToken('c', 'login', 100), null, 'expired')
  })

  on('forgets tags and their salts', async (ledger, { another }) => {
    const salt = await ledger.daySalt(DAY, 'links')
    assert.notDeepEqual(salt, await ledger.daySalt(DAY), 'a separate salt')
    assert.deepEqual(await (await another()).daySalt(DAY, 'links'), salt)
    for (const index of [1, 2, 3]) await reserve(ledger, 'x', tagged(index, 'a', 'b', AT + index))
    await ledger.forgetTagsBefore(AT + 3, DAY)
    assert.deepEqual(await ledger.sameUploader(id(1), 10), [])
    await reserve(ledger, 'x', tagged(4))
    assert.deepEqual(await ledger.sameUploader(id(4), 10), [id(3)])
    assert.deepEqual(await (await another()).daySalt(DAY, 'links'), salt)
    await ledger.forgetTagsBefore(AT, '2026-08-01')
    assert.notDeepEqual(await (await another()).daySalt(DAY, 'links'), salt)
    assert.deepEqual(await (await another()).daySalt(DAY), await ledger.daySalt(DAY))
  })
}

function reserve(
  ledger: Ledger,
  bucket: string,
  extras: ReservationExtras,
  limit = 100,
): Promise<number | 'network-full' | null> {
  return ledger.reserveUpload(bucket, DAY, limit, undefined, extras)
}
