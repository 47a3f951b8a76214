/** Images and ledgers on their way into copies and backups and back, while operators and uploaders go on. */
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
import { repair } from '../src/node/verify/repair.ts'
import { scan } from '../src/node/verify/scan.ts'
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

const [SEEN, HIDDEN] = [idFor('v'), idFor('h')]

/** Two stores, the first with an image that is visible and one that is held. */
async function storesFor(t: TestContext): Promise<{ from: ObjectStore; to: ObjectStore }> {
  const folder = await folderOf(t)
  const [from, to] = await Promise.all(
    ['from', 'to'].map((name) => openFilesystemStore({ folder: join(folder, name), hotSetBytes: 0 })),
  )
  t.after(() => Promise.all([from!.close(), to!.close()]))
  for (const [nth, id] of [SEEN, HIDDEN].entries()) await put(from!, id, bytesFor(nth, 3000))
  await from!.hold(HIDDEN)
  return { from: from!, to: to! }
}

/** `act` comes after the list was read, and before anybody has it. */
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

test('what is released while a store is listed is brought over', async (t) => {
  const { from, to } = await storesFor(t)
  const released = listedBefore(from, () => from.release(HIDDEN))
  const { copied } = await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual([copied, await listOf(to), await heldOf(to)], [2, [HIDDEN, SEEN].sort(), []])
})

test('what is released while a store is listed, and held in the copy, is released there', async (t) => {
  const { from, to } = await storesFor(t)
  await transferImages({ from, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [HIDDEN])
  const released = listedBefore(from, () => from.release(HIDDEN))
  await transferImages({ from: released, to, bytesPerSecond: null })
  assert.deepEqual(await heldOf(to), [])
})

test('a copy keeps what is held or released meanwhile, and drops what is gone', async (t) => {
  const { from, to } = await storesFor(t)
  const gone = [idFor('g'), idFor('k')] as const
  for (const [nth, id] of gone.entries()) await put(from, id, bytesFor(nth + 5, 3000))
  await from.hold(gone[1])
  await transferImages({ from, to, bytesPerSecond: null })
  await from.hold(SEEN)
  await from.release(HIDDEN)
  await from.remove(gone[0])
  await from.removeHeld(gone[1])
  assert.equal(await pruneImages(from, to), 2)
  assert.deepEqual([await listOf(to), await heldOf(to)], [[SEEN], [HIDDEN]])
  // Moved between two questions.
  const headHeld = (id: string) => from.release(id).then(() => null)
  const racing = { ...from, headHeld }
  assert.equal(await pruneImages(racing, to), 0)
})

const LOG = createLog('fatal')
const REASON = 'terms'

const configOf = (folder: string, name: string, env: Record<string, string> = {}) =>
  parseConfig({ DATA_DIR: join(folder, name), LOG_LEVEL: 'fatal', ...env })

/** The data of a machine, while `work` has it open. */
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

/** A machine with an image that is visible and one that is held, and where its backups go. */
async function machineFor(t: TestContext, env: Record<string, string> = {}) {
  const folder = await folderOf(t)
  const config = configOf(folder, 'one', env)
  await (await openStores(config, LOG, { as: 'server' })).close()
  await onMachine(config, async ({ objects, takedown }) => {
    for (const [nth, id] of [SEEN, HIDDEN].entries()) await put(objects, id, bytesFor(nth, 3000))
    await takedown.hold(HIDDEN, REASON)
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

/** As `verify --repair` does it. */
async function repairAll(config: Config): Promise<string[]> {
  const folder = join(config.dataDir, 'images')
  return onMachine(config, async (stores) => {
    const found = scan({
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

test('a repair holds what is visible and held by the ledger', async (t) => {
  const { config } = await machineFor(t)
  // Images of before, beside a newer ledger.
  await onMachine(config, ({ objects }) => objects.release(HIDDEN))
  assert.deepEqual(await repairAll(config), ['visible: held'])
  await onMachine(config, async ({ objects }) => {
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[SEEN], [HIDDEN]])
  })
  assert.deepEqual(await repairAll(config), [])
})

test('a repair holds nothing that a server is about to have released', async (t) => {
  const { config } = await machineFor(t)
  await onMachine(config, async (stores) => {
    const { objects, clock } = stores
    // A server has moved it, and not written that down yet.
    await stores.ledger.recordRelease(HIDDEN, REASON, new Date(clock.now()))
    const move = await stores.ledger.claimMove(HIDDEN, clock.now(), 60_000)
    assert.ok(move !== null && move !== 'busy')
    await objects.release(HIDDEN)
    let isFinished = false
    const finish = async () => {
      if (!isFinished) await stores.ledger.finishMove(move, true)
      isFinished = true
    }
    const claimMove: Ledger['claimMove'] = async (...given) => {
      const claimed = await stores.ledger.claimMove(...given)
      if (claimed === 'busy') await finish()
      return claimed
    }
    const parts = { ...stores, ledger: { ...stores.ledger, claimMove }, now: clock.now }
    const moves = createMoves({ ...parts, onFailure: assert.ifError })
    const takedown = createTakedown({ ...parts, moves, evidence: null })
    await repair({ kind: 'visible', id: HIDDEN }, { ...parts, takedown, folder: null, backup: null })
    await finish()
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[SEEN, HIDDEN].sort(), []])
  })
})

test('a restore beside a newer ledger that is given up leaves held what it holds, and images private', async (t) => {
  const { config, to, backUp } = await machineFor(t)
  await backUp()
  await onMachine(config, ({ takedown }) => takedown.hold(SEEN, REASON))
  const kill = () => {
    throw new Error('killed')
  }
  await assert.rejects(restoreOn(config, to, kill), /killed/)
  await onMachine(config, async ({ objects }) => assert.deepEqual(await listOf(objects), []))
  await repairAll(config)
  await onMachine(config, async ({ ledger }) => assert.equal((await ledger.settings()).images, 'private'))
})

test('a restore does not take the ledger of a new machine for the newer one', async (t) => {
  const { folder, to, backUp } = await machineFor(t)
  await backUp()
  const other = configOf(folder, 'two')
  await (await openStores(other, LOG, { as: 'server' })).close()
  await onMachine(other, ({ takedown }) => takedown.block('a'.repeat(64), REASON))
  await assert.rejects(restoreOn(other, to), /not known to be the backup’s.*ledger\.sqlite.*--keep-ledger/)
  // Nothing was begun.
  await (await openStores(other, LOG, { as: 'server' })).close()
  await rm(join(other.dataDir, 'ledger.sqlite'))
  assert.equal((await restoreOn(other, to)).keptLedger, false)
  await onMachine(other, async ({ objects }) => assert.deepEqual(await heldOf(objects), [HIDDEN]))
  assert.equal((await restoreOn(other, to)).keptLedger, true, 'it is the same now')
})

test('a restore keeps the ledger of the backup if it is newer, and not if it is older', async (t) => {
  const { config, to, backUp } = await machineFor(t)
  const older = join(config.dataDir, 'older.sqlite')
  await cp(join(config.dataDir, 'ledger.sqlite'), older)
  await backUp()
  await onMachine(config, ({ takedown }) => takedown.release(HIDDEN, REASON))
  assert.equal((await restoreOn(config, to)).keptLedger, true)
  await onMachine(config, async ({ objects }) => assert.deepEqual(await heldOf(objects), []))
  await loseLedger(config)
  await cp(older, join(config.dataDir, 'ledger.sqlite'))
  await assert.rejects(restoreOn(config, to), /--keep-ledger/)
})

test('a backup drops what was deleted while the ledger was away, and tells the ledger', async (t) => {
  const { folder, config, to, backUp } = await machineFor(t)
  await backUp()
  await onMachine(config, async ({ objects }) => {
    await objects.remove(SEEN, { retire: 'surely' })
    await objects.removeHeld(HIDDEN, { retire: 'surely' })
  })
  const { manifest, removed } = await backUp()
  assert.deepEqual([manifest.images, removed], [0, 2])
  await onMachine(config, async ({ ledger }) => {
    for (const id of [SEEN, HIDDEN]) assert.equal(await ledger.isGone(id), true)
  })
  const other = configOf(folder, 'two')
  await restoreOn(other, to)
  await onMachine(other, async ({ objects }) => {
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], []])
  })
})

test('a restore brings nothing back that went since, gives no id again, and shows nobody what may have gone', async (t) => {
  const env = { TOMBSTONES_URL: `file:${await folderOf(t)}` }
  const { folder, config, to, backUp } = await machineFor(t, env)
  const derivedOn = (machine: Config) =>
    onMachine(machine, async ({ ledger }) => (await createDerive(ledger, nodeHashes)('x'.repeat(22))).id)
  const derived = await derivedOn(config)
  await backUp()
  const server = await openStores(config, LOG, { as: 'server' })
  await server.ledger.recordDeletion(SEEN, new Date())
  await takedownOf(server).remove(HIDDEN, REASON, { block: false })
  server.tombstones.start()
  await until('both are in the second place', async () => (await server.tombstones.pending())?.count === 0)
  await server.close()
  await loseLedger(config)
  for (const target of [configOf(folder, 'two', env), config]) {
    // What went just now may not be in the second place yet.
    assert.equal((await restoreOn(target, to)).isPrivate, true)
    await onMachine(target, async ({ objects, ledger }) => {
      assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], []])
      assert.equal((await ledger.whyAbsent(HIDDEN))?.state, 'removed')
    })
    assert.notEqual(await derivedOn(target), derived)
  }
})
