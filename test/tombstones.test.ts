/** Deletions and decisions on their way to a second place, and from there into another ledger. */

import assert from 'node:assert/strict'
import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { nodeHashes } from '../src/node/hashes.ts'
import { createTombstoneFiles, lastOf } from '../src/service/recovery/tombstone-files.ts'
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
  const place = join(folder, 'second')
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  ends.push(objects.close)
  const told: string[] = []
  /** Unit: milliseconds. */
  let ahead = 0
  return {
    place,
    objects,
    told,
    found: () => createTombstoneFiles(openFolderFiles(place), nodeHashes).read(),
    async ledger(name: string): Promise<Ledger> {
      const ledger = await openSqliteLedger({ file: join(folder, `${name}.sqlite`) })
      ends.push(ledger.close)
      return ledger
    },
    /** The next look at what the place is comes now. */
    wait() {
      ahead += 60_000
    },
    /** A server's, running. */
    async follow(ledger: Ledger) {
      const isNew = await ledger.keepTombstones(place, NOW)
      const tombstones = createTombstones({
        ledger,
        objects,
        files: openFolderFiles(place),
        hashes: nodeHashes,
        place,
        isNew,
        now: () => Date.now() + ahead,
        onFailure: () => told.push('failed'),
        onRecovery: () => told.push('recovered'),
        intervalMs: 5,
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

test('a place that is away is told once, holds nobody up, and has everything when it is back', async (t) => {
  const { place, told, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const tombstones = await follow(ledger)
  await ledger.recordDeletion(idFor(1), AT)
  await until('it is written', none(ledger))
  await rename(place, `${place}-away`)
  await ledger.recordDeletion(idFor(2), AT)
  await until('it is told', () => told.length > 0)
  await ledger.recordDeletion(idFor(3), AT)
  assert.equal((await tombstones.pending())?.count, 2)
  await assert.rejects(readdir(place), 'an empty mount point is not written to')
  await rename(`${place}-away`, place)
  await until('it is back', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [1, 2, 3].map(idFor))
  await until('that is told', () => told.length > 1)
  assert.deepEqual(told, ['failed', 'recovered'])
})

test('a place is made by the first server that gets that far, and by none after', async (t) => {
  const { place, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  // Left by a server that died at its start.
  assert.equal(await ledger.keepTombstones(place, NOW), true)
  await ledger.recordDeletion(idFor(1), AT)
  const first = await follow(ledger)
  await until('it is written', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
  await first.stop()
  await rename(place, `${place}-away`)
  await ledger.recordDeletion(idFor(2), AT)
  const second = await follow(ledger)
  await second.stop()
  await assert.rejects(readdir(place))
})

test('what a process claimed that died is written by another one', async (t) => {
  const { found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  await ledger.keepTombstones('elsewhere', NOW)
  await ledger.recordDeletion(idFor(1), AT)
  const claimed = await ledger.claimTombstones(10, Date.now(), 50)
  assert.equal(claimed?.tombstones.length, 1)
  await (await follow(ledger)).pending()
  await until('it is written', none(ledger))
  assert.deepEqual(await subjectsOf(found()), [idFor(1)])
})

test('a place that lost what it had gets all that holds once more', async (t) => {
  const { place, found, ledger: open, follow } = await sceneFor(t)
  const ledger = await open('a')
  const first = await follow(ledger)
  await ledger.recordDeletion(idFor(1), AT)
  await ledger.recordHold(idFor(2), 'r', AT)
  await until('they are written', none(ledger))
  await first.stop()
  await rm(place, { recursive: true })
  await mkdir(place)
  await follow(ledger)
  await until('they are written again', async () => (await subjectsOf(found())).length === 2)
})

test('a ledger that was lost begins anew with what the second place has, and the images too', async (t) => {
  const { objects, found, ledger: open, follow } = await sceneFor(t)
  const old = await open('a')
  const first = await follow(old)
  const bytes = bytesFor(1, 1000)
  for (const nth of [1, 2, 3]) await put(objects, idFor(nth), bytes)
  await old.recordRemoval(idFor(1), 'r', AT, { who: 'w', rule: 'terms' })
  await old.recordHold(idFor(2), 'r', AT)
  await old.block(['a'.repeat(64)], 'r', AT)
  await until('they are written', none(old))
  await first.stop()
  const ledger = await open('b')
  await follow(ledger)
  await until('it knows', async () => 'tombstones.applied' in (await ledger.facts()))
  assert.deepEqual(await ledger.whyAbsent(idFor(1)), { state: 'removed', rule: 'terms' })
  assert.equal(await ledger.whyWithheld(['a'.repeat(64)]), 'blocked')
  assert.deepEqual(
    await Promise.all([1, 2, 3].map(async (nth) => (await objects.head(idFor(nth))) !== null)),
    [false, false, true],
  )
  assert.notEqual(await objects.headHeld(idFor(2)), null)
  assert.deepEqual((await found()).damaged, [])
})

test('a disk that is mounted late, or was not for a while, is applied and gets all that was decided', async (t) => {
  const { place, found, wait, ledger: open, follow } = await sceneFor(t)
  const old = await open('a')
  const first = await follow(old)
  const [held, released, gone, later] = [idFor(1), idFor(2), idFor(3), idFor(4)]
  await old.recordHold(held, 'r', AT)
  await old.recordRelease(held, 'r', AT)
  await old.recordHold(released, 'r', AT)
  await old.recordDeletion(gone, AT)
  await until('they are written', none(old))
  await first.stop()
  const disk = `${place}-disk`
  await rename(place, disk)
  await mkdir(place)
  const ledger = await open('b')
  await follow(ledger)
  await until('it is taken for a place', async () => (await readdir(place)).includes('followed.json'))
  await ledger.recordHold(held, 'r', new Date(NOW + 100))
  await ledger.recordRelease(released, 'r', new Date(NOW + 100))
  await until('they are written', none(ledger))
  await rename(place, `${place}-mount-point`)
  await rename(disk, place)
  wait()
  await until('it knows', () => ledger.isGone(gone))
  assert.equal((await ledger.whyAbsent(held))?.state, 'held')
  assert.equal(await ledger.holdOf(released), null)
  const lastIn = async (subject: string) =>
    lastOf((await found()).tombstones).find((each) => each.subject === subject)?.act
  await until('the disk has it too', async () => (await lastIn(held)) === 'hold')

  await rename(place, disk)
  await rename(`${place}-mount-point`, place)
  wait()
  await until('it is taken for a place again', async () => (await lastIn(gone)) === 'delete')
  await ledger.recordDeletion(later, AT)
  await until('it is written', none(ledger))
  await rename(place, `${place}-mount-point`)
  await rename(disk, place)
  wait()
  await until('the disk has it too', async () => (await lastIn(later)) === 'delete')
})

test('a ledger that begins anew while the second place is away keeps what is decided meanwhile', async (t) => {
  const { place, objects, told, ledger: open, follow } = await sceneFor(t)
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
  await rename(place, `${place}-away`)
  // It can't be read.
  await writeFile(place, '')
  const ledger = await open('b')
  await follow(ledger)
  await until('it is away', () => told.length > 0)
  await ledger.recordHold(id, 'r', new Date(NOW + 2))
  await objects.hold(id)
  await ledger.block([digest], 'r', new Date(NOW + 2))
  await rm(place)
  await rename(`${place}-away`, place)
  await until('it is back', none(ledger))
  assert.equal((await ledger.whyAbsent(id))?.state, 'held')
  assert.equal(await ledger.whyWithheld([digest]), 'blocked')
})

const tombstone = (nth: number): Tombstone => ({
  at: NOW + nth,
  order: nth,
  act: 'delete',
  subject: idFor(nth),
  rule: '',
})

test('a torn or rotten file loses no more than the lines that are, and is named', async (t) => {
  const { place } = await sceneFor(t)
  const folder = openFolderFiles(place)
  await folder.make()
  const files = createTombstoneFiles(folder, nodeHashes)
  await files.write([1, 2, 3].map(tombstone), NOW)
  await files.write([4, 5, 6].map(tombstone), NOW + 1)
  await files.write([7].map(tombstone), NOW + 2)
  const [torn, rotten] = await folder.names()
  await truncate(join(place, torn!), (await readFile(join(place, torn!))).length - 20)
  const line = (await readFile(join(place, rotten!), 'utf8')).indexOf('\n') + 1
  await flipBit(join(place, rotten!), line + 12)
  const found = await files.read()
  assert.deepEqual(found.tombstones.map(({ subject }) => subject).sort(), [1, 2, 4, 6, 7].map(idFor))
  assert.deepEqual(found.damaged, [torn, rotten])
  assert.equal(found.until, null)
  // Other files in the folder.
  await appendFile(join(place, 'notes.txt'), 'mine')
  await appendFile(join(place, 'followed.json'), '{')
  assert.deepEqual([(await files.read()).until, await files.until()], [null, 0])
})

test('many small files become few, with all that they had', async (t) => {
  const { place } = await sceneFor(t)
  const folder = openFolderFiles(place)
  await folder.make()
  const files = createTombstoneFiles(folder, nodeHashes)
  for (let nth = 0; nth < 510; nth++) await files.write([tombstone(nth)], NOW + nth)
  const [damaged] = await folder.names()
  await truncate(join(place, damaged!), 10)
  await files.merge(NOW + 1000)
  assert.equal((await folder.names()).length, 510, 'too young')
  const before = await subjectsOf(files.read())
  await files.merge(NOW + DAY_MS)
  assert.equal((await folder.names()).length, 12, 'a merged one, ten that are left, and the damaged one')
  assert.deepEqual(await subjectsOf(files.read()), before)
  assert.deepEqual((await files.read()).damaged, [damaged])
})

test('whatever was done, another ledger that applies the tombstones says the same', async (t) => {
  const { ledger: open, place } = await sceneFor(t)
  const ids = [1, 2, 3].map(idFor)
  const digests = ['a'.repeat(64), 'b'.repeat(64)]
  const acts = fc.array(
    fc.tuple(
      fc.constantFrom('delete', 'hold', 'release', 'remove', 'block', 'unblock'),
      fc.nat(2),
      // By any clock.
      fc.nat(100),
    ),
    { maxLength: 25, size: 'max' },
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(acts, fc.nat(20), async (script, backupAt) => {
      run++
      const [live, restored] = [await open(`live${run}`), await open(`restored${run}`)]
      await live.keepTombstones(place, NOW)
      const left: Tombstone[] = []
      for (const [nth, [act, which, clock]] of script.entries()) {
        const [id, digest, at] = [ids[which]!, digests[which % 2]!, new Date(NOW + clock)]
        for (const ledger of nth < backupAt ? [live, restored] : [live]) {
          if (act === 'delete') await ledger.recordDeletion(id, AT).then(() => ledger.recordHeldGone(id))
          else if (act === 'hold') await ledger.recordHold(id, 'r', at)
          else if (act === 'remove') await ledger.recordRemoval(id, 'r', at)
          else if (act === 'release') {
            await ledger.recordRelease(id, 'r', at)
            await ledger.recordHeldGone(id)
          } else if (act === 'block') await ledger.block([digest], 'r', at)
          else await ledger.unblock(digest, 'r', at)
        }
        for (;;) {
          const claimed = await live.claimTombstones(1, Date.now(), 1000)
          if (claimed === null) break
          left.push(...claimed.tombstones)
          await live.settleTombstones(claimed.claim)
        }
      }
      // In any order, and some of them twice.
      await restored.applyTombstones(lastOf([...left.reverse(), ...left.slice(0, 5)]))
      const stateOf = async (ledger: Ledger) => {
        const gone = await ledger.goneIds('', 10)
        const held = (await ledger.heldIds(10)).filter((id) => !gone.includes(id)).sort()
        return { gone, held, blocked: await Promise.all(digests.map((each) => ledger.whyWithheld([each]))) }
      }
      const [wanted, got] = [await stateOf(live), await stateOf(restored)]
      assert.deepEqual(got, wanted)
    }),
    { numRuns: extent(60, 15) },
  )
})

test('a restore withholds the bytes of a deleted image only until the operator let go of them', async (t) => {
  const { ledger: open, place } = await sceneFor(t)
  const [live, backup] = [await open('live'), await open('backup')]
  const digests = { sha256: 'a'.repeat(64), sentSha256: 'b'.repeat(64) }
  const moveOn = async (ledger: Ledger, isThere: boolean) => {
    for (const move of await ledger.claimMoves(10, NOW, 1000)) await ledger.finishMove(move, isThere)
  }
  await live.keepTombstones(place, NOW)
  for (const ledger of [live, backup]) {
    await ledger.recordHold(idFor(1), 'r', AT, undefined, digests)
    await moveOn(ledger, true)
  }
  const left: Tombstone[] = []
  const bringUp = async (ledger: Ledger) => {
    left.push(
      ...(await live.waitingTombstones()).filter(({ order }) => !left.some((each) => each.order === order)),
    )
    await ledger.applyTombstones(lastOf(left))
    return ledger.whyWithheld([digests.sentSha256])
  }
  // By a clock that is ahead.
  await live.recordDeletion(idFor(1), new Date(NOW + 5000))
  await live.recordHeldGone(idFor(1))
  for (const ledger of [await open('first'), backup]) assert.equal(await bringUp(ledger), 'held')
  await live.recordRelease(idFor(1), 'r', AT)
  await moveOn(live, false)
  for (const ledger of [await open('second'), backup]) assert.equal(await bringUp(ledger), null)
  assert.equal(await backup.isGone(idFor(1)), true)
})
