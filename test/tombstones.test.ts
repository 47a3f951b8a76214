/** Replication of deletions and decisions to a second location, and from there into another ledger. */

import assert from 'node:assert/strict'
import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { nodeHashes } from '../src/node/hashes.ts'
import { createTombstoneFiles, latestPerSubject } from '../src/service/recovery/tombstone-files.ts'
import { createTombstones } from '../src/service/recovery/tombstones.ts'
import { openFolderFiles } from '../src/stores/filesystem/files.ts'
import { openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import type { Tombstone } from '../src/stores/tombstones.ts'
import { extent } from './support/extent.ts'
import { folderOf } from './support/folder.ts'
import { flipBit } from './support/store-folder.ts'
import { bytesFor, idFor, put } from './support/stored-images.ts'
import { until } from './support/until.ts'

const NOW = 1_790_000_000_000
const AT = new Date(NOW)
const DAY_MS = 86_400_000

async function sceneFor(t: TestContext) {
  const folder = await folderOf(t)
  const ends: (() => Promise<void>)[] = []
  t.after(async () => {
    for (const end of ends.reverse()) await end()
  })
  const location = join(folder, 'second')
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  ends.push(objects.close)
  const events: string[] = []
  /** Unit: milliseconds. */
  let ahead = 0
  return {
    location,
    objects,
    events,
    found: (place = location) => createTombstoneFiles(openFolderFiles(place), nodeHashes).read(),
    async ledger(name: string): Promise<Ledger> {
      const ledger = await openSqliteLedger({ file: join(folder, `${name}.sqlite`) })
      ends.push(ledger.close)
      return ledger
    },
    /** Advances the clock, so that the identity of the location is checked again. */
    wait() {
      ahead += 60_000
    },
    /** Starts the replication of a server. */
    async follow(ledger: Ledger, place = location, intervalMs = 5) {
      const isNew = await ledger.setTombstoneLocation(place, NOW)
      const tombstones = createTombstones({
        ledger,
        objects,
        files: openFolderFiles(place),
        hashes: nodeHashes,
        location: place,
        isNew,
        now: () => Date.now() + ahead,
        onFailure: () => events.push('failed'),
        onRecovery: () => events.push('recovered'),
        intervalMs,
      })
      ends.push(tombstones.stop)
      tombstones.start()
      return tombstones
    },
  }
}

const none = (ledger: Ledger) => async () => (await ledger.pendingTombstones()).count === 0

async function subjectsOf(found: Promise<{ tombstones: Tombstone[] }>): Promise<string[]> {
  return [...new Set((await found).tombstones.map(({ subject }) => subject))].sort()
}

test('reports an unreachable location once, does not block, and catches up when it is back', async (t) => {
  const { location, events, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const tombstones = await follow(ledger)
  await ledger.recordDeletion(idFor(1), AT)
  await until('it is written', none(ledger))
  await rename(location, `${location}-away`)
  await ledger.recordDeletion(idFor(2), AT)
  await until('the failure is reported', () => events.length > 0)
  await ledger.recordDeletion(idFor(3), AT)
  assert.equal((await tombstones.pending())?.count, 2)
  await assert.rejects(readdir(location), 'an empty mount point is not written to')
  await rename(`${location}-away`, location)
  await until('it is back', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [1, 2, 3].map(idFor))
  await until('the recovery is reported', () => events.length > 1)
  assert.deepEqual(events, ['failed', 'recovered'])
})

test('creates the location only until it was first reached', async (t) => {
  const { location, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  // A server died during its start.
  assert.equal(await ledger.setTombstoneLocation(location, NOW), true)
  await ledger.recordDeletion(idFor(1), AT)
  const first = await follow(ledger)
  await until('it is written', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
  await first.stop()
  await rename(location, `${location}-away`)
  await ledger.recordDeletion(idFor(2), AT)
  const second = await follow(ledger)
  await second.stop()
  await assert.rejects(readdir(location))
})

test('writes tombstones claimed by a process that died', async (t) => {
  const { found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  await ledger.setTombstoneLocation('elsewhere', NOW)
  await ledger.recordDeletion(idFor(1), AT)
  const claimed = await ledger.claimTombstones(10, Date.now(), 50)
  assert.equal(claimed?.tombstones.length, 1)
  await (await follow(ledger)).pending()
  await until('it is written', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
})

test('writes what is pending when it stops', async (t) => {
  const { location, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const tombstones = await follow(ledger, location, DAY_MS)
  await until('the first run has ended', async () => (await found()).until !== null)
  await ledger.recordDeletion(idFor(1), AT)
  await tombstones.stop()
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
})

test('leaves a long queue to the next start when it stops', async (t) => {
  const { found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const ids = Array.from({ length: 4000 }, (_, index) => idFor(index))
  await ledger.applyTombstones(
    ids.map((subject) => ({ at: NOW, order: 0, act: 'delete', subject, rule: '' })),
  )
  await (await follow(ledger)).stop()
  assert.ok((await ledger.pendingTombstones()).count > 0)
  await follow(ledger)
  await until('all are written', none(ledger))
  assert.deepEqual(await subjectsOf(found()), ids.sort())
})

test('does not claim that every change is written while another process has one to write', async (t) => {
  const { found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  await ledger.setTombstoneLocation('elsewhere', NOW)
  await ledger.recordDeletion(idFor(1), AT)
  await ledger.claimTombstones(10, Date.now(), 60_000)
  await (await follow(ledger)).stop()
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
  assert.equal((await found()).until, null)
})

test('moves to a new location, to which servers that still have the old one leave everything', async (t) => {
  const { location, found, ledger: open, follow, wait } = await sceneFor(t)
  const ledger = await open('a')
  const old = await follow(ledger)
  await ledger.recordDeletion(idFor(1), AT)
  await until('it is written', none(ledger))
  const place = `${location}-new`
  await ledger.setTombstoneLocation(place, NOW)
  await ledger.recordDeletion(idFor(2), AT)
  wait()
  // Stopping runs the replication once more.
  await old.stop()
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
  await follow(ledger, place)
  await until('they are written', none(ledger))
  assert.deepEqual(await subjectsOf(found(place)), [1, 2].map(idFor))
})

test('rewrites all effective tombstones to a location that lost its data', async (t) => {
  const { location, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const first = await follow(ledger)
  await ledger.recordDeletion(idFor(1), AT)
  await ledger.recordHold(idFor(2), 'r', AT)
  await until('they are written', none(ledger))
  await first.stop()
  await rm(location, { recursive: true })
  await mkdir(location)
  await follow(ledger)
  await until('they are written again', async () => (await subjectsOf(found())).length === 2)
})

test('applies the second location’s tombstones to a new ledger and the images', async (t) => {
  const { objects, found, ledger: open, follow } = await sceneFor(t)
  const old = await open('a')
  const first = await follow(old)
  const bytes = bytesFor(1, 1000)
  for (const number of [1, 2, 3]) await put(objects, idFor(number), bytes)
  await old.recordRemoval(idFor(1), 'r', AT, { who: 'w', rule: 'terms' })
  await old.recordHold(idFor(2), 'r', AT)
  await old.block(['a'.repeat(64)], 'r', AT)
  await until('they are written', none(old))
  await first.stop()
  const ledger = await open('b')
  await follow(ledger)
  await until('they are applied', async () => 'tombstones.applied' in (await ledger.facts()))
  assert.deepEqual(await ledger.absenceReason(idFor(1)), { state: 'removed', rule: 'terms' })
  assert.equal(await ledger.withheldReason(['a'.repeat(64)]), 'blocked')
  assert.deepEqual(
    await Promise.all([1, 2, 3].map(async (number) => (await objects.head(idFor(number))) !== null)),
    [false, false, true],
  )
  assert.notEqual(await objects.headHeld(idFor(2)), null)
  assert.deepEqual((await found()).damaged, [])
})

test('applies a disk that is mounted late or was temporarily unmounted, and brings it up to date', async (t) => {
  const { location, found, wait, ledger: open, follow } = await sceneFor(t)
  const old = await open('a')
  const first = await follow(old)
  const [held, released, gone, later] = [idFor(1), idFor(2), idFor(3), idFor(4)]
  await old.recordHold(held, 'r', AT)
  await old.recordRelease(held, 'r', AT)
  await old.recordHold(released, 'r', AT)
  await old.recordDeletion(gone, AT)
  await until('they are written', none(old))
  await first.stop()
  const disk = `${location}-disk`
  await rename(location, disk)
  await mkdir(location)
  const ledger = await open('b')
  await follow(ledger)
  await until('the mount point is used as the location', async () =>
    (await readdir(location)).includes('followed.json'),
  )
  await ledger.recordHold(held, 'r', new Date(NOW + 100))
  await ledger.recordRelease(released, 'r', new Date(NOW + 100))
  await until('they are written', none(ledger))
  await rename(location, `${location}-mount-point`)
  await rename(disk, location)
  wait()
  await until('the disk is applied', () => ledger.isGone(gone))
  assert.equal((await ledger.absenceReason(held))?.state, 'held')
  assert.equal(await ledger.holdOf(released), null)
  const lastIn = async (subject: string) =>
    latestPerSubject((await found()).tombstones).find((tombstone) => tombstone.subject === subject)?.act
  await until('the hold is on the disk', async () => (await lastIn(held)) === 'hold')

  await rename(location, disk)
  await rename(`${location}-mount-point`, location)
  wait()
  await until('the mount point is used as the location again', async () => (await lastIn(gone)) === 'delete')
  await ledger.recordDeletion(later, AT)
  await until('it is written', none(ledger))
  await rename(location, `${location}-mount-point`)
  await rename(disk, location)
  wait()
  await until('the deletion is on the disk', async () => (await lastIn(later)) === 'delete')
})

test('a new ledger keeps decisions made while the second location is unreachable', async (t) => {
  const { location, objects, events, ledger: open, follow } = await sceneFor(t)
  const old = await open('a')
  const first = await follow(old)
  const [id, digest] = [idFor(1), 'a'.repeat(64)]
  await put(objects, id, bytesFor(1, 1000))
  await old.recordHold(id, 'r', AT)
  await old.recordRelease(id, 'r', new Date(NOW + 1))
  await old.block([digest], 'r', AT)
  await old.unblock(digest, 'r', new Date(NOW + 1))
  await until('they are written', none(old))
  await first.stop()
  await rename(location, `${location}-away`)
  // A file in location of the folder makes it unreadable.
  await writeFile(location, '')
  const ledger = await open('b')
  await follow(ledger)
  await until('the failure is reported', () => events.length > 0)
  await ledger.recordHold(id, 'r', new Date(NOW + 2))
  await objects.hold(id)
  await ledger.block([digest], 'r', new Date(NOW + 2))
  await rm(location)
  await rename(`${location}-away`, location)
  await until('it is back', none(ledger))
  assert.equal((await ledger.absenceReason(id))?.state, 'held')
  assert.equal(await ledger.withheldReason([digest]), 'blocked')
})

const newTombstone = (number: number): Tombstone => ({
  at: NOW + number,
  order: number,
  act: 'delete',
  subject: idFor(number),
  rule: '',
})

test('loses no more than the damaged lines of a torn or corrupt file, and reports it', async (t) => {
  const { location } = await sceneFor(t)
  const folder = openFolderFiles(location)
  await folder.make()
  const files = createTombstoneFiles(folder, nodeHashes)
  await files.write([1, 2, 3].map(newTombstone), NOW)
  await files.write([4, 5, 6].map(newTombstone), NOW + 1)
  await files.write([7].map(newTombstone), NOW + 2)
  const [torn, corrupt] = await folder.names()
  await truncate(join(location, torn!), (await readFile(join(location, torn!))).length - 20)
  const line = (await readFile(join(location, corrupt!), 'utf8')).indexOf('\n') + 1
  await flipBit(join(location, corrupt!), line + 12)
  const found = await files.read()
  assert.deepEqual(found.tombstones.map(({ subject }) => subject).sort(), [1, 2, 4, 6, 7].map(idFor))
  assert.deepEqual(found.damaged, [torn, corrupt])
  assert.equal(found.until, null)
  // Ignores unrelated files in the folder.
  await appendFile(join(location, 'notes.txt'), 'mine')
  await appendFile(join(location, 'followed.json'), '{')
  assert.deepEqual([(await files.read()).until, await files.until()], [null, 0])
})

test('merges many small files into few without losing tombstones', async (t) => {
  const { location } = await sceneFor(t)
  const folder = openFolderFiles(location)
  await folder.make()
  const files = createTombstoneFiles(folder, nodeHashes)
  for (let index = 0; index < 510; index++) await files.write([newTombstone(index)], NOW + index)
  const [damaged] = await folder.names()
  await truncate(join(location, damaged!), 10)
  await files.merge(NOW + 1000)
  assert.equal((await folder.names()).length, 510, 'too young')
  const before = await subjectsOf(files.read())
  const write = () => Promise.reject(new Error('the disk is full'))
  await assert.rejects(createTombstoneFiles({ ...folder, write }, nodeHashes).merge(NOW + DAY_MS), /full/)
  assert.deepEqual(await subjectsOf(files.read()), before)
  await files.merge(NOW + DAY_MS)
  assert.equal((await folder.names()).length, 12, 'one merged file, ten unmerged ones, and the damaged one')
  assert.deepEqual(await subjectsOf(files.read()), before)
  assert.deepEqual((await files.read()).damaged, [damaged])
})

test('applying the tombstones to another ledger reproduces the state, for any history', async (t) => {
  const { ledger: open, location } = await sceneFor(t)
  const ids = [1, 2, 3].map(idFor)
  const digests = ['a'.repeat(64), 'b'.repeat(64)]
  const acts = fc.array(
    fc.tuple(
      fc.constantFrom('delete', 'hold', 'release', 'remove', 'block', 'unblock'),
      fc.nat(2),
      // Time, in any order.
      fc.nat(100),
    ),
    { maxLength: 25, size: 'max' },
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(acts, fc.nat(20), async (script, backupAt) => {
      run++
      const [live, restored] = [await open(`live${run}`), await open(`restored${run}`)]
      await live.setTombstoneLocation(location, NOW)
      const written: Tombstone[] = []
      for (const [index, [act, which, clock]] of script.entries()) {
        const [id, digest, at] = [ids[which]!, digests[which % 2]!, new Date(NOW + clock)]
        for (const ledger of index < backupAt ? [live, restored] : [live]) {
          if (act === 'delete') await ledger.recordDeletion(id, AT).then(() => ledger.recordHeldDeleted(id))
          else if (act === 'hold') await ledger.recordHold(id, 'r', at)
          else if (act === 'remove') await ledger.recordRemoval(id, 'r', at)
          else if (act === 'release') {
            await ledger.recordRelease(id, 'r', at)
            await ledger.recordHeldDeleted(id)
          } else if (act === 'block') await ledger.block([digest], 'r', at)
          else await ledger.unblock(digest, 'r', at)
        }
        for (;;) {
          const claimed = await live.claimTombstones(1, Date.now(), 1000)
          if (claimed === null) break
          written.push(...claimed.tombstones)
          await live.settleTombstones(claimed.claim)
        }
      }
      // In a different order, with duplicates.
      await restored.applyTombstones(latestPerSubject([...written.reverse(), ...written.slice(0, 5)]))
      const stateOf = async (ledger: Ledger) => {
        const gone = await ledger.removedIds('', 10)
        const held = (await ledger.heldIds(10)).filter((id) => !gone.includes(id)).sort()
        return {
          gone,
          held,
          blocked: await Promise.all(digests.map((digest) => ledger.withheldReason([digest]))),
        }
      }
      const [expected, actual] = [await stateOf(live), await stateOf(restored)]
      assert.deepEqual(actual, expected)
    }),
    { numRuns: extent(60, 15) },
  )
})

test('a restore withholds the bytes of a deleted image only until the operator released them', async (t) => {
  const { ledger: open, location } = await sceneFor(t)
  const [live, backup] = [await open('live'), await open('backup')]
  const digests = { sha256: 'a'.repeat(64), sentSha256: 'b'.repeat(64) }
  const finishMoves = async (ledger: Ledger, isThere: boolean) => {
    for (const move of await ledger.claimMoves(10, NOW, 1000)) await ledger.finishMove(move, isThere)
  }
  await live.setTombstoneLocation(location, NOW)
  for (const ledger of [live, backup]) {
    await ledger.recordHold(idFor(1), 'r', AT, undefined, digests)
    await finishMoves(ledger, true)
  }
  const written: Tombstone[] = []
  const restore = async (ledger: Ledger) => {
    const isNew = ({ order }: Tombstone) => !written.some((tombstone) => tombstone.order === order)
    written.push(...(await live.unwrittenTombstones()).filter(isNew))
    await ledger.applyTombstones(latestPerSubject(written))
    return ledger.withheldReason([digests.sentSha256])
  }
  // The clock was ahead.
  await live.recordDeletion(idFor(1), new Date(NOW + 5000))
  await live.recordHeldDeleted(idFor(1))
  for (const ledger of [await open('first'), backup]) assert.equal(await restore(ledger), 'held')
  await live.recordRelease(idFor(1), 'r', AT)
  await finishMoves(live, false)
  for (const ledger of [await open('second'), backup]) assert.equal(await restore(ledger), null)
  assert.equal(await backup.isGone(idFor(1)), true)
})
