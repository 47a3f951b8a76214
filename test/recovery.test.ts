/** Copies, backups and restores of images and ledgers, while operators and uploaders keep working. */
import assert from 'node:assert/strict'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Config, parseConfig } from '../src/config.ts'
import { backUp } from '../src/node/backup/backup.ts'
import { restore } from '../src/node/backup/restore.ts'
import { abandonRestore } from '../src/node/backup/restored-ledger.ts'
import { nodeHashes } from '../src/node/hashes.ts'
import { createLog } from '../src/node/log.ts'
import { openStores, type Stores } from '../src/node/open/stores.ts'
import { checkImages } from '../src/node/verify/check.ts'
import { repair } from '../src/node/verify/repair.ts'
import { createDerive } from '../src/service/images/identities.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { pruneImages, transferImages } from '../src/service/recovery/transfer.ts'
import { openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { ObjectStore } from '../src/stores/object-store.ts'
import { folderOf } from './support/folder.ts'
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
      after: '',
      withHeld: false,
      bytesPerSecond: null,
      onProgress: () => {},
    })
    const done: string[] = []
    for await (const finding of found) {
      done.push(`${finding.kind}: ${await repair(finding, { ...stores, folder, backup: null })}`)
    }
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
