/** Copies, backups and restores of images and ledgers, while operators and uploaders keep working. */
import assert from 'node:assert/strict'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Config, parseConfig } from '../src/config.ts'
import { backUp } from '../src/node/backup/backup.ts'
import { restore } from '../src/node/backup/restore.ts'
import { abandonRestore } from '../src/node/backup/restored-ledger.ts'
import { nodeHashes } from '../src/node/hashes.ts'
import { createLog } from '../src/node/log.ts'
import { openImages, openStores, type Stores } from '../src/node/open/stores.ts'
import { checkImages } from '../src/node/verify/check.ts'
import { repair } from '../src/node/verify/repair.ts'
import { createDerive } from '../src/service/images/identities.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { removeGone } from '../src/service/recovery/reconcile.ts'
import { createTombstoneFiles } from '../src/service/recovery/tombstone-files.ts'
import { pruneImages, transferImages } from '../src/service/recovery/transfer.ts'
import { openFolderFiles } from '../src/stores/filesystem/files.ts'
import { openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { ObjectStore } from '../src/stores/object-store.ts'
import { folderOf } from './support/folder.ts'
import { s3Env } from './support/processes/cluster.ts'
import { startFakeS3 } from './support/s3/fake-s3.ts'
import { flipBit } from './support/store-folder.ts'
import { bytesFor, heldOf, idFor, listOf, put } from './support/stored-images.ts'
import { until } from './support/until.ts'

const [VISIBLE, HELD] = [idFor('v'), idFor('h')]

/** Two stores, the first with a visible and a held image. */
async function storesFor(t: TestContext): Promise<{ from: ObjectStore; to: ObjectStore }> {
  const folder = await folderOf(t)
  const [from, to] = await Promise.all(
    ['from', 'to'].map((name) => openFilesystemStore({ folder: join(folder, name), hotSetBytes: 0 })),
  )
  t.after(() => Promise.all([from!.close(), to!.close()]))
  for (const [index, id] of [VISIBLE, HELD].entries()) await put(from!, id, bytesFor(index, 3000))
  await from!.hold(HELD)
  return { from: from!, to: to! }
}

/** Runs `act` after the listing was read but before it is returned. */
function listedBefore(store: ObjectStore, act: () => Promise<unknown>): ObjectStore {
  return {
    ...store,
    async *list(after) {
      const ids = await listOf(store, after)
      await act()
      yield* ids
    },
  }
}

test('copies no bytes that do not match their record, and reports the image', async (t) => {
  const { from, to } = await storesFor(t)
  const open: ObjectStore['open'] = async (id, selection) => {
    const image = await from.open(id, selection)
    return image && { ...image, body: bytesFor(2, 3000) }
  }
  const { damaged } = await transferImages({ from: { ...from, open }, to, bytesPerSecond: null })
  assert.deepEqual([damaged, await listOf(to), await heldOf(to)], [[VISIBLE], [], [HELD]])
})

test('copies an image that is released during the listing', async (t) => {
  const { from, to } = await storesFor(t)
  const released = listedBefore(from, () => from.release(HELD))
  const { copied } = await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual([copied, await listOf(to), await heldOf(to)], [2, [HELD, VISIBLE].sort(), []])
})

test('does not copy an image back that was deleted in the target for good', async (t) => {
  const { from, to } = await storesFor(t)
  await transferImages({ from, to, bytesPerSecond: null })
  await to.remove(VISIBLE, { retire: 'surely' })
  const { copied } = await transferImages({ from, to, bytesPerSecond: null })
  assert.deepEqual([copied, await listOf(to), await heldOf(to)], [0, [], [HELD]])
})

for (const when of ['before', 'after'] as const) {
  test(`copies an image that is held ${when} the listing and released during the copy`, async (t) => {
    const { from, to } = await storesFor(t)
    let wasHeld = false
    const holdOnce = async () => (wasHeld ||= await from.hold(VISIBLE))
    const racing: ObjectStore = {
      ...from,
      async *list(after) {
        if (when === 'before') await holdOnce()
        yield* await listOf(from, after)
      },
      async open(...args) {
        await holdOnce()
        return from.open(...args)
      },
      async *listHeld(after) {
        if (wasHeld) await from.release(VISIBLE)
        yield* from.listHeld(after)
      },
    }
    const { copied } = await transferImages({ from: racing, to, bytesPerSecond: null })
    assert.deepEqual([copied, await listOf(to), await heldOf(to)], [2, [VISIBLE], [HELD]])
  })
}

test('releases an image in the copy if it is released during the listing', async (t) => {
  const { from, to } = await storesFor(t)
  await transferImages({ from, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [HELD])
  const released = listedBefore(from, () => from.release(HELD))
  await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [])
})

test('keeps images that are held or released during a copy, and prunes removed ones', async (t) => {
  const { from, to } = await storesFor(t)
  const gone = [idFor('g'), idFor('k')] as const
  for (const [index, id] of gone.entries()) await put(from, id, bytesFor(index + 5, 3000))
  await from.hold(gone[1])
  await transferImages({ from, to, bytesPerSecond: null })
  await from.hold(VISIBLE)
  await from.release(HELD)
  await from.remove(gone[0])
  await from.removeHeld(gone[1])
  assert.equal(await pruneImages(from, to), 2)
  assert.deepEqual([await listOf(to), await heldOf(to)], [[VISIBLE], [HELD]])
  // Released between two lookups.
  const headHeld = (id: string) => from.release(id).then(() => null)
  const racing = { ...from, headHeld }
  assert.equal(await pruneImages(racing, to), 0)
})

const LOG = createLog('fatal')
const REASON = 'terms'

const configOf = (folder: string, name: string, env: Record<string, string> = {}) =>
  parseConfig({ DATA_DIR: join(folder, name), LOG_LEVEL: 'fatal', ...env })

/** Opens the data of a machine for the duration of `work`. */
async function onMachine<T>(
  config: Config,
  work: (stores: Stores & { takedown: ReturnType<typeof takedownOf> }) => Promise<T>,
): Promise<T> {
  const stores = await openStores(config, LOG, { as: 'command', mayDisagree: true, isRestoring: true })
  try {
    return await work({ ...stores, takedown: takedownOf(stores) })
  } finally {
    await stores.close()
  }
}

const takedownOf = (stores: Stores) => createTakedown({ ...stores, now: stores.clock.now, evidence: null })

/** A machine with a visible and a held image, and the location of its backups. */
async function machineFor(t: TestContext, env: Record<string, string> = {}) {
  const folder = await folderOf(t)
  const config = configOf(folder, 'one', env)
  await (await openStores(config, LOG, { as: 'server' })).close()
  await onMachine(config, async ({ objects, takedown }) => {
    for (const [index, id] of [VISIBLE, HELD].entries()) await put(objects, id, bytesFor(index, 3000))
    await takedown.hold(HELD, REASON)
  })
  const to = `file:${join(folder, 'backup')}`
  return {
    folder,
    config,
    to,
    backUp: () =>
      onMachine(config, (stores) =>
        backUp({ config, stores, to, bytesPerSecond: null, onProgress: () => {} }),
      ),
  }
}

const restoreOn = (config: Config, from: string, onProgress = () => {}) =>
  restore({ config, log: LOG, from, name: undefined, withoutTombstones: false, onProgress })

async function loseLedger({ dataDir }: Config): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(join(dataDir, `ledger.sqlite${end}`), { force: true })
}

/** Does what `verify --repair` does. */
async function repairAll(config: Config): Promise<string[]> {
  const folder = join(config.dataDir, 'images')
  return onMachine(config, async (stores) => {
    const found = checkImages({
      ...stores,
      folder,
      bytesPerSecond: null,
      onProgress: () => {},
    })
    const done = await Array.fromAsync(
      found,
      async (finding) => `${finding.kind}: ${await repair(finding, { ...stores, folder, backup: null })}`,
    )
    await abandonRestore(config.dataDir, stores.ledger)
    return done
  })
}

test('a repair holds visible images that the ledger says are held', async (t) => {
  const { config } = await machineFor(t)
  // Older images next to a newer ledger.
  await onMachine(config, ({ objects }) => objects.release(HELD))
  assert.deepEqual(await repairAll(config), ['visible: held'])
  await onMachine(config, async ({ objects }) => {
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[VISIBLE], [HELD]])
  })
  assert.deepEqual(await repairAll(config), [])
})

test('a repair removes held images that are gone according to the ledger', async (t) => {
  const { config } = await machineFor(t)
  await onMachine(config, ({ ledger }) => ledger.recordDeletion(HELD, new Date()))
  assert.deepEqual(await repairAll(config), ['removed: removed'])
  await onMachine(config, async ({ objects }) => assert.deepEqual(await heldOf(objects), []))
})

test('a repair does not hold an image that a server is just releasing', async (t) => {
  const { config } = await machineFor(t)
  await onMachine(config, async (stores) => {
    const { objects, clock } = stores
    // A server has moved the image, but not recorded that yet.
    await stores.ledger.recordRelease(HELD, REASON, new Date(clock.now()))
    const move = await stores.ledger.claimMove(HELD, clock.now(), 60_000)
    assert.ok(move !== null && move !== 'busy')
    await objects.release(HELD)
    let isFinished = false
    const finish = async () => {
      if (!isFinished) await stores.ledger.finishMove(move, true)
      isFinished = true
    }
    const claimMove: Ledger['claimMove'] = async (...args) => {
      const claimed = await stores.ledger.claimMove(...args)
      if (claimed === 'busy') await finish()
      return claimed
    }
    const parts = { ...stores, ledger: { ...stores.ledger, claimMove }, now: clock.now }
    const moves = createMoves({ ...parts, onFailure: assert.ifError })
    const takedown = createTakedown({ ...parts, moves, evidence: null })
    await repair({ kind: 'visible', id: HELD }, { ...parts, takedown, folder: null, backup: null })
    await finish()
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[VISIBLE, HELD].sort(), []])
  })
})

for (const [act, outcome, held] of [
  ['deleted', 'removed', [HELD]],
  ['held', 'healed, still held', [HELD, VISIBLE]],
] as const) {
  test(`a repair from a backup does not show an image that is being ${act}`, async (t) => {
    const { config, to, backUp } = await machineFor(t)
    await backUp()
    const folder = join(config.dataDir, 'images')
    await flipBit(join(folder, 'objects', VISIBLE), 100)
    await onMachine(config, async (stores) => {
      const { objects, ledger } = stores
      const backup = await openImages(to, config)
      t.after(backup.close)
      if (act === 'deleted') await ledger.recordDeletion(VISIBLE, new Date())
      else await ledger.recordHold(VISIBLE, REASON, new Date())
      const finding = { kind: 'damaged', id: VISIBLE } as const
      assert.equal(await repair(finding, { ...stores, folder, backup }), outcome)
      assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], held])
    })
  })
}

test('an aborted restore next to a newer ledger leaves its held images held, and images private', async (t) => {
  const { config, to, backUp } = await machineFor(t)
  await backUp()
  await onMachine(config, ({ takedown }) => takedown.hold(VISIBLE, REASON))
  const kill = () => {
    throw new Error('killed')
  }
  await assert.rejects(restoreOn(config, to, kill), /killed/)
  await onMachine(config, async ({ objects }) => assert.deepEqual(await listOf(objects), []))
  await repairAll(config)
  await onMachine(config, async ({ ledger }) => assert.equal((await ledger.settings()).images, 'private'))
})

test('a restore does not mistake the ledger of a new machine for a newer one', async (t) => {
  const { folder, to, backUp } = await machineFor(t)
  await backUp()
  const other = configOf(folder, 'two')
  await (await openStores(other, LOG, { as: 'server' })).close()
  await onMachine(other, ({ takedown }) => takedown.block('a'.repeat(64), REASON))
  await assert.rejects(restoreOn(other, to), /not known to be the backup’s.*ledger\.sqlite.*--keep-ledger/)
  // Nothing was changed.
  await (await openStores(other, LOG, { as: 'server' })).close()
  await rm(join(other.dataDir, 'ledger.sqlite'))
  assert.equal((await restoreOn(other, to)).keptLedger, false)
  await onMachine(other, async ({ objects }) => assert.deepEqual(await heldOf(objects), [HELD]))
  assert.equal((await restoreOn(other, to)).keptLedger, true, 'the ledger is the backup’s now')
})

test('a restore keeps the existing ledger if it is newer than the backup’s, but not if it is older', async (t) => {
  const { config, to, backUp } = await machineFor(t)
  const older = join(config.dataDir, 'older.sqlite')
  await cp(join(config.dataDir, 'ledger.sqlite'), older)
  await backUp()
  await onMachine(config, ({ takedown }) => takedown.release(HELD, REASON))
  assert.equal((await restoreOn(config, to)).keptLedger, true)
  await onMachine(config, async ({ objects }) => assert.deepEqual(await heldOf(objects), []))
  await loseLedger(config)
  await cp(older, join(config.dataDir, 'ledger.sqlite'))
  await assert.rejects(restoreOn(config, to), /--keep-ledger/)
})

test('a backup drops images deleted while the ledger was unavailable, and records their deletion', async (t) => {
  const { folder, config, to, backUp } = await machineFor(t)
  await backUp()
  await onMachine(config, async ({ objects }) => {
    await objects.remove(VISIBLE, { retire: 'surely' })
    await objects.removeHeld(HELD, { retire: 'surely' })
  })
  const { manifest, removed } = await backUp()
  assert.deepEqual([manifest.images, removed], [0, 2])
  await onMachine(config, async ({ ledger }) => {
    for (const id of [VISIBLE, HELD]) assert.equal(await ledger.isGone(id), true)
  })
  const other = configOf(folder, 'two')
  await restoreOn(other, to)
  await onMachine(other, async ({ objects }) => {
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], []])
  })
})

test('a backup to the bucket of the data itself is refused, however it is spelled', async (t) => {
  const fake = await startFakeS3()
  t.after(fake.close)
  const { config } = await machineFor(t, s3Env(fake, 'data'))
  const endpoint = encodeURIComponent(`${fake.endpoint}/`)
  const to = `s3://${fake.bucket}/data/?region=us-east-1&endpoint=${endpoint}`
  await onMachine(config, async (stores) => {
    const backup = backUp({ config, stores, to, bytesPerSecond: null, onProgress: () => {} })
    await assert.rejects(backup, /the location of the data itself/)
  })
})

test('a restore does not revive later deletions or reuse IDs, and hides images that may have been deleted', async (t) => {
  const env = { TOMBSTONES_URL: `file:${await folderOf(t)}` }
  const { folder, config, to, backUp } = await machineFor(t, env)
  const derivedOn = (machine: Config) =>
    onMachine(machine, async ({ ledger }) => (await createDerive(ledger, nodeHashes)('x'.repeat(22))).id)
  const derived = await derivedOn(config)
  await backUp()
  const server = await openStores(config, LOG, { as: 'server' })
  await server.ledger.recordDeletion(VISIBLE, new Date())
  await takedownOf(server).remove(HELD, REASON, { block: false })
  server.tombstones.start()
  await until('both are in the second location', async () => (await server.tombstones.pending())?.count === 0)
  await server.close()
  await loseLedger(config)
  for (const target of [configOf(folder, 'two', env), config]) {
    // The most recent deletions may not be in the second location yet.
    assert.equal((await restoreOn(target, to)).isPrivate, true)
    await onMachine(target, async ({ objects, ledger }) => {
      assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], []])
      assert.equal((await ledger.absenceReason(HELD))?.state, 'removed')
    })
    assert.notEqual(await derivedOn(target), derived)
  }
})

test('a restore looks up no image that the store lists', async (t) => {
  const { folder, to, backUp } = await machineFor(t)
  await backUp()
  const fake = await startFakeS3()
  t.after(fake.close)
  const { missing } = await restoreOn(configOf(folder, 'two', s3Env(fake, 'restored')), to)
  assert.deepEqual([missing, fake.logOf(VISIBLE)], [[], ['PUT 200']])
})

test('a restore records when images expire, which the ledger may not know', async (t) => {
  const { folder, config, to, backUp } = await machineFor(t)
  const [id, expiresAt] = [idFor('e'), Date.now() + 3_600_000]
  const changes = { expiresAt: new Date(expiresAt).toISOString() }
  await onMachine(config, ({ objects }) => put(objects, id, bytesFor(3, 3000), changes))
  await backUp()
  const other = configOf(folder, 'two')
  await restoreOn(other, to)
  await onMachine(other, async ({ ledger }) => {
    assert.deepEqual(
      (await ledger.claimExpiries(10, expiresAt, 1000)).map(({ id }) => id),
      [id],
    )
  })
})

test('a restore reports a damaged list of images, and takes none for missing by it', async (t) => {
  const { folder, to, backUp } = await machineFor(t)
  const { manifest } = await backUp()
  await flipBit(join(folder, 'backup/backup', manifest.list.file), 3)
  const { damagedFiles, missing } = await restoreOn(configOf(folder, 'two'), to)
  assert.deepEqual([damagedFiles, missing], [[manifest.list.file], []])
})

test('a restore beside surviving images holds those held since the backup, unless they were released', async (t) => {
  const location = await folderOf(t)
  const { config, to, backUp } = await machineFor(t, { TOMBSTONES_URL: `file:${location}` })
  await backUp()
  await onMachine(config, ({ takedown }) => takedown.hold(VISIBLE, REASON))
  // The release was recorded, but the image not moved yet.
  const tombstone = { at: Date.now(), order: 1, act: 'release', subject: HELD, rule: '' } as const
  await createTombstoneFiles(openFolderFiles(location), nodeHashes).write([tombstone], Date.now())
  await loseLedger(config)
  await restoreOn(config, to)
  await onMachine(config, async ({ objects }) => {
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[HELD], [VISIBLE]])
  })
})

test('a restore removes every image that is gone according to the ledger, however many', async (t) => {
  const { from } = await storesFor(t)
  // A full page of IDs that sort before the others.
  const gone = Array.from({ length: 1000 }, (_, index) => `-${1000 + index}`)
  gone.push(...[VISIBLE, HELD].sort())
  const removedIds: Ledger['removedIds'] = async (after, limit) =>
    gone.filter((id) => id > after).slice(0, limit)
  assert.deepEqual(await removeGone({ removedIds }, from), [VISIBLE, HELD].sort())
})

for (const [description, { wasPrivate = false, damaged = '' }, isPrivate] of [
  ['shown, as all deletions are known', {}, false],
  ['private, as the operator had made them', { wasPrivate: true }, true],
  ['private, as a tombstone is damaged', { damaged: '{"at":' }, true],
] as const satisfies [string, object, boolean][]) {
  test(`restored images are ${description}`, async (t) => {
    const location = await folderOf(t)
    const env = { TOMBSTONES_URL: `file:${location}` }
    const { folder, config, to, backUp } = await machineFor(t, env)
    if (wasPrivate)
      await onMachine(config, ({ ledger }) =>
        ledger.changeSettings({ images: 'private' }, REASON, new Date()),
      )
    await backUp()
    await createTombstoneFiles(openFolderFiles(location), nodeHashes).follow(Date.now())
    if (damaged) await writeFile(join(location, '20260731T120000000Z-3fa9c1d2.jsonl'), damaged)
    assert.equal((await restoreOn(configOf(folder, 'two', env), to)).isPrivate, isPrivate)
  })
}
