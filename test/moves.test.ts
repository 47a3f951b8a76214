/** What the operator decided happens, whichever process dies in between. */
import assert from 'node:assert/strict'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createImages } from '../src/service/images/images.ts'
import { NO_PURGES } from '../src/service/images/purges.ts'
import { findImage } from '../src/service/images/status.ts'
import { createDecisions, UNDO_MS } from '../src/service/moderation/decisions.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { openFilesystemStore } from '../src/stores/filesystem/store.ts'
import { type Ledger, LedgerUnavailable } from '../src/stores/ledger.ts'
import { type ObjectStore, StoreUnavailable } from '../src/stores/object-store.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { report } from './contracts/ledger/new-report.ts'
import { folderOf } from './support/folder.ts'
import { gif } from './support/images/tiny-images.ts'
import {
  assertAbsent,
  assertHeld,
  assertHolds,
  bodyOf,
  bytesFor,
  idFor,
  inChunks,
  put,
} from './support/stored-images.ts'
import { until } from './support/until.ts'

const ID = idFor('a')

async function partsFor(t: TestContext) {
  const folder = await folderOf(t)
  const [objects, ledger] = await Promise.all([
    openFilesystemStore({ folder, hotSetBytes: 0 }),
    openSqliteLedger({ file: join(folder, 'ledger.sqlite') }),
  ])
  t.after(() => Promise.all([objects.close(), ledger.close()]))
  return { folder, objects, ledger, clock: { now: Date.now() } }
}

function process(
  parts: { objects: ObjectStore; ledger: Ledger; clock: { now: number } },
  changes: Partial<ObjectStore> = {},
) {
  const given = {
    objects: { ...parts.objects, ...changes },
    ledger: parts.ledger,
    purges: NO_PURGES,
    now: () => parts.clock.now,
    onFailure: () => {},
  }
  const moves = createMoves(given)
  return { moves, takedown: createTakedown({ ...given, moves, evidence: null }) }
}

test('another process finishes a hold, a release and a removal whose process died', async (t) => {
  const parts = await partsFor(t)
  const bytes = bytesFor(1, 3000)
  const record = await put(parts.objects, ID, bytes)
  const dead = new Promise<never>(() => {})
  const living = process(parts)
  for (const [act, at, check] of [
    ['hold', 'before', () => assertHeld(parts.objects, record, bytes)],
    ['release', 'before', () => assertHolds(parts.objects, record, bytes)],
    ['hold', 'after', () => assertHeld(parts.objects, record, bytes)],
    ['release', 'after', () => assertHolds(parts.objects, record, bytes)],
    ['remove', 'before', () => assertAbsent(parts.objects, ID)],
  ] as const) {
    let isReached = false
    const stop = async () => {
      isReached = true
      return dead
    }
    const dying = process(parts, {
      [act]: at === 'before' ? stop : (id: string) => parts.objects[act](id).then(stop),
    })
    if (act === 'remove') void dying.takedown.remove(ID, 'x', { block: false })
    else void dying.takedown[act](ID, 'x')
    await until('it died', () => isReached)
    parts.clock.now += 120_000
    living.moves.start()
    await until('it is done', async () => (await parts.ledger.claimMove(ID, 0, 1)) === null)
    await living.moves.stop()
    await check()
  }
  assert.deepEqual(
    (await parts.ledger.auditLog(10)).map(({ act }) => act),
    ['remove', 'release', 'hold', 'release', 'hold'],
  )
})

test('the last act wins, however many decide at once', async (t) => {
  const parts = await partsFor(t)
  const bytes = bytesFor(1, 3000)
  const record = await put(parts.objects, ID, bytes)
  const two = [process(parts), process(parts)]
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        nth % 2 === 0 ? two[nth % 2]!.takedown.hold(ID, 'x') : two[nth % 2]!.takedown.release(ID, 'x'),
      ),
    )
    const [last] = await parts.ledger.auditLog(1)
    const isHeld = (await parts.ledger.whyAbsent(ID))?.state === 'held'
    assert.equal(isHeld, last === undefined ? false : last.act === 'hold')
    if (isHeld) await assertHeld(parts.objects, record, bytes)
    else await assertHolds(parts.objects, record, bytes)
  }
})

test('a store that is away for a moment delays an act, and loses none', async (t) => {
  const parts = await partsFor(t)
  const bytes = bytesFor(1, 3000)
  const record = await put(parts.objects, ID, bytes)
  const unlucky = process(parts, { hold: () => Promise.reject(new Error('away')) })
  await assert.rejects(unlucky.takedown.hold(ID, 'x'), /away/)
  await assertHolds(parts.objects, record, bytes)
  parts.clock.now += 10_000
  const { moves } = process(parts)
  moves.start()
  await until('it is held', async () => (await parts.objects.head(ID)) === null)
  await moves.stop()
  await assertHeld(parts.objects, record, bytes)
})

test('a removal that is recorded is carried out, whatever others decide meanwhile', async (t) => {
  for (const act of ['release', 'hold'] as const)
    for (const isHeld of [true, false]) {
      const parts = await partsFor(t)
      await put(parts.objects, ID, bytesFor(1, 3000))
      const other = process(parts)
      if (isHeld) await other.takedown.hold(ID, 'x')
      let answer: unknown
      const recordRemoval: Ledger['recordRemoval'] = async (...given) => {
        const isRecorded = await parts.ledger.recordRemoval(...given)
        answer = await other.takedown[act](ID, 'y')
        return isRecorded
      }
      const { takedown } = process({ ...parts, ledger: { ...parts.ledger, recordRemoval } })
      assert.deepEqual(await takedown.remove(ID, 'z', { block: false }), { removed: true, blocked: [] })
      const which = `${act}, ${isHeld ? 'held' : 'visible'} before`
      assert.equal(answer, false, which)
      await assertAbsent(parts.objects, ID)
      assert.equal(await parts.objects.headHeld(ID), null, which)
      assert.equal(await parts.ledger.holdOf(ID), null, which)
      assert.equal(await other.takedown.release(ID, 'later'), false, which)
    }
})

for (const act of ['release', 'keep'] as const) {
  test(`a ${act} in the moment a removal is due ends it, and blocks nothing`, async (t) => {
    const parts = await partsFor(t)
    const { takedown, moves } = process(parts)
    const bytes = bytesFor(1, 3000)
    const record = await put(parts.objects, ID, bytes)
    await parts.ledger.fileReport(report({ id: ID }), 10)
    let answer: unknown
    const recordRemoval: Ledger['recordRemoval'] = async (...given) => {
      answer ??= await takedown[act](ID, 'y')
      return parts.ledger.recordRemoval(...given)
    }
    const given = { ...parts, ledger: { ...parts.ledger, recordRemoval } }
    const late = process(given)
    const decisions = createDecisions({
      ...given,
      ...late,
      moves,
      now: () => parts.clock.now,
      onFailure: (error) => assert.fail(String(error)),
    })
    await decisions.decide([ID], 'remove', { block: true, reason: 'z', by: { who: 'ann' } })
    parts.clock.now += UNDO_MS
    decisions.start()
    await decisions.stop()
    assert.equal(answer, true)
    await assertHolds(parts.objects, record, bytes)
    assert.equal(await parts.ledger.whyAbsent(ID), null)
    assert.equal(await parts.ledger.whyWithheld([record.sha256]), null)
    const acts = (await parts.ledger.auditLog(20)).map((entry) => entry.act)
    assert.ok(!acts.includes('remove') && !acts.includes('block'), acts.join())
  })
}

test('a removal that the store put off is carried out, although somebody releases the image', async (t) => {
  const parts = await partsFor(t)
  await put(parts.objects, ID, bytesFor(1, 3000))
  const { moves, takedown } = process(parts)
  await takedown.hold(ID, 'x')
  const unlucky = process(parts, { removeHeld: () => Promise.reject(new Error('away')) })
  await assert.rejects(unlucky.takedown.remove(ID, 'y', { block: false }), /away/)
  assert.equal(await takedown.release(ID, 'z'), false)
  await assertAbsent(parts.objects, ID)
  parts.clock.now += 10_000
  moves.start()
  await until('it is gone', async () => (await parts.objects.headHeld(ID)) === null)
  await moves.stop()
  await assertAbsent(parts.objects, ID)
})

for (const [late, then] of [
  ['release', 'hold'],
  ['hold', 'release'],
] as const)
  test(`a ${late} that waited behind a slow one undoes no ${then} that came since`, async (t) => {
    const parts = await partsFor(t)
    const ids = ['a', 'b', 'c'].map(idFor)
    const living = process(parts)
    for (const id of ids) {
      await put(parts.objects, id, bytesFor(1, 3000))
      if (late === 'release') await living.takedown.hold(id, 'x')
      // The process dies before it moves anything.
      if (late === 'release') await parts.ledger.recordRelease(id, 'y', new Date(parts.clock.now))
      else await parts.ledger.recordHold(id, 'y', new Date(parts.clock.now))
    }
    const { promise: isSlow, resolve: goOn } = Promise.withResolvers<void>()
    const begun: string[] = []
    const slow = process(parts, {
      [late]: async (id: string) => {
        begun.push(id)
        if (begun.length === 1) await isSlow
        return parts.objects[late](id)
      },
    })
    slow.moves.start()
    await until('it is at the first', () => begun.length === 1)
    parts.clock.now += 61_000
    living.moves.start()
    const isDone = async (id: string) => (await parts.ledger.claimMove(id, 0, 1)) === null
    await until('others are done', async () => (await Promise.all(ids.map(isDone))).every(Boolean))
    await living.moves.stop()
    for (const id of ids) assert.equal(await living.takedown[then](id, 'z'), true)
    goOn()
    await slow.moves.stop()
    living.moves.start()
    await until('all are in place', async () => {
      const seen = await Promise.all(ids.map((id) => parts.objects.head(id)))
      const done = await Promise.all(ids.map(isDone))
      return done.every(Boolean) && seen.every((record) => (record === null) === (then === 'hold'))
    })
    await living.moves.stop()
    assert.deepEqual((await parts.ledger.heldIds(10)).sort(), then === 'hold' ? [...ids].sort() : [])
    assert.deepEqual(begun, ids.slice(0, 1), 'no claim is kept behind a slow move')
  })

/** What shows and deletes by key over these parts. */
function imagesOf(parts: { ledger: Ledger; objects: ObjectStore; purges?: typeof NO_PURGES }) {
  return createImages({
    purges: NO_PURGES,
    ...parts,
    maxUploadBytes: 1e6,
    stripMetadata: false,
    metrics: { removalByKey: () => {} } as Parameters<typeof createImages>[0]['metrics'],
    hashes: nodeHashes,
    now: Date.now,
    expiryClock: { latest: Date.now },
  })
}

test('caches are purged after a removal whose answer of the store was lost', async (t) => {
  const parts = await partsFor(t)
  const key = ID + 'k'.repeat(32)
  await put(parts.objects, ID, bytesFor(1, 3000), { keySha256: nodeHashes.sha256(key) })
  const log: string[] = []
  const remove: ObjectStore['remove'] = async (...given) => {
    await parts.objects.remove(...given)
    log.push('removed')
    throw new StoreUnavailable()
  }
  const purges = { ...NO_PURGES, enqueue: async () => void log.push('purge') }
  const images = imagesOf({ ...parts, objects: { ...parts.objects, remove }, purges })
  await assert.rejects(images.remove(key), { code: 'unavailable' })
  assert.deepEqual(log, ['purge', 'removed', 'purge'])
})

for (const seen of ['as it is looked for', 'as it is removed'])
  test(`deletes by its key what is released ${seen}`, async (t) => {
    const parts = await partsFor(t)
    const key = ID + 'k'.repeat(32)
    await put(parts.objects, ID, bytesFor(1, 3000), { keySha256: nodeHashes.sha256(key) })
    const { takedown } = process(parts)
    await takedown.hold(ID, 'x')
    let isReleased = false
    /** Answers first, and then has the image released. */
    const releasing = <Given extends unknown[], Answer>(act: (...given: Given) => Promise<Answer>) => {
      return async (...given: Given): Promise<Answer> => {
        const answer = await act(...given)
        if (!isReleased) {
          isReleased = true
          assert.equal(await takedown.release(ID, 'y'), true)
        }
        return answer
      }
    }
    const act = seen === 'as it is looked for' ? 'head' : 'remove'
    const objects = { ...parts.objects, [act]: releasing<never[], unknown>(parts.objects[act] as never) }
    assert.equal(await imagesOf({ ...parts, objects }).remove(key), true)
    assert.equal(isReleased, true)
    await assertAbsent(parts.objects, ID)
    assert.equal(await parts.objects.headHeld(ID), null)
    assert.equal(await imagesOf(parts).remove(key), false)
  })

for (const act of ['release', 'keep'] as const)
  test(`a ${act} counts more than a hold that the store put off`, async (t) => {
    const parts = await partsFor(t)
    const bytes = bytesFor(1, 3000)
    const record = await put(parts.objects, ID, bytes)
    await parts.ledger.fileReport(report({ id: ID }), 5)
    const { moves, takedown } = process(parts)
    const unlucky = process(parts, { hold: () => Promise.reject(new Error('away')) })
    await assert.rejects(unlucky.takedown.hold(ID, 'x'), /away/)
    parts.clock.now += 10_000
    assert.equal(await takedown[act](ID, 'y'), true)
    await moves.carryOut(ID)
    await assertHolds(parts.objects, record, bytes)
    assert.equal(await parts.ledger.holdOf(ID), null)
    assert.equal((await parts.ledger.caseOf(ID))?.state, act === 'keep' ? 'kept' : 'open')
  })

for (const act of ['release', 'keep'] as const)
  test(`a ${act} ends the hold of an image whose deletion did not come to its end`, async (t) => {
    const parts = await partsFor(t)
    const key = ID + 'k'.repeat(32)
    const keySha256 = nodeHashes.sha256(key)
    const { sha256 } = await put(parts.objects, ID, bytesFor(1, 3000), { keySha256 })
    await parts.ledger.fileReport(report({ id: ID }), 5)
    const { takedown } = process(parts)
    await takedown.hold(ID, 'x')
    const recordHeldGone = () => Promise.reject(new Error('this process died'))
    const dying = imagesOf({ ...parts, ledger: { ...parts.ledger, recordHeldGone } })
    await assert.rejects(dying.remove(key), /died/)
    assert.equal(await parts.ledger.whyWithheld([sha256]), 'held')
    assert.equal((await findImage(parts, ID)).state, 'withheld')
    assert.equal(await takedown[act](ID, 'y'), true)
    assert.equal(await parts.ledger.whyWithheld([sha256]), null)
  })

test('an image that somebody holds while it is kept is not held with a case that is decided', async (t) => {
  const parts = await partsFor(t)
  const bytes = bytesFor(1, 3000)
  const record = await put(parts.objects, ID, bytes)
  await parts.ledger.fileReport(report({ id: ID }), 5)
  const { takedown } = process(parts)
  let isHeld = false
  const recordKeep: Ledger['recordKeep'] = async (...given) => {
    if (!isHeld) {
      isHeld = true
      assert.equal(await takedown.hold(ID, 'x'), true)
    }
    return parts.ledger.recordKeep(...given)
  }
  const keeping = process({ ...parts, ledger: { ...parts.ledger, recordKeep } })
  assert.equal(await keeping.takedown.keep(ID, 'y'), true)
  await assertHolds(parts.objects, record, bytes)
  assert.equal((await parts.ledger.caseOf(ID))?.state, 'kept')
})

for (const who of ['a report', 'a removal that blocks'] as const)
  test(`${who} finds an image that is released while it is looked for`, async (t) => {
    const parts = await partsFor(t)
    const { sha256 } = await put(parts.objects, ID, bytesFor(1, 3000))
    const { takedown } = process(parts)
    await takedown.hold(ID, 'x')
    let isReleased = false
    const headHeld: ObjectStore['headHeld'] = async (id) => {
      if (!isReleased) {
        isReleased = true
        assert.equal(await takedown.release(id, 'y'), true)
      }
      return parts.objects.headHeld(id)
    }
    if (who === 'a report') {
      const objects = { ...parts.objects, headHeld }
      assert.equal((await findImage({ ...parts, objects }, ID)).state, 'visible')
    } else {
      const removal = await process(parts, { headHeld }).takedown.remove(ID, 'z', { block: true })
      assert.deepEqual(removal, { removed: true, blocked: [sha256] })
    }
  })

test('an image that is held while its upload ends stays, and can be released', async (t) => {
  const parts = await partsFor(t)
  const key = ID + 'k'.repeat(32)
  const unlucky = process(parts, { hold: () => Promise.reject(new Error('away')) })
  let isHeld = false
  const whyAbsent: Ledger['whyAbsent'] = async (id) => {
    // Stored, and seen by a repeat and by the operator.
    if (!isHeld && (await parts.objects.head(id)) !== null) {
      isHeld = true
      await assert.rejects(unlucky.takedown.hold(id, 'x'), /away/)
    }
    return parts.ledger.whyAbsent(id)
  }
  const images = imagesOf({ ...parts, ledger: { ...parts.ledger, whyAbsent } })
  const bytes = gif()
  let isKept = false
  const upload = images.publish(inChunks(bytes), {
    identity: { id: ID, key, isDerived: true },
    onKept() {
      isKept = true
    },
  })
  await assert.rejects(upload, { code: 'held' })
  parts.clock.now += 10_000
  await process(parts).moves.carryOut(ID)
  assert.equal(await process(parts).takedown.release(ID, 'y'), true)
  assert.deepEqual(await bodyOf((await parts.objects.open(ID))!), new Uint8Array(bytes))
  assert.equal(isKept, true, 'it takes one of the uploads of its address')
})

test('says that a damaged image is held, while the ledger is away', async (t) => {
  const parts = await partsFor(t)
  await put(parts.objects, ID, bytesFor(1, 3000))
  await process(parts).takedown.hold(ID, 'x')
  await truncate(join(parts.folder, 'held', ID), 2000)
  const whyAbsent = () => Promise.reject(new LedgerUnavailable({ cause: new Error('away') }))
  const images = imagesOf({ ...parts, ledger: { ...parts.ledger, whyAbsent } })
  await assert.rejects(images.find(ID), { code: 'held' })
  await assert.rejects(images.open(ID), { code: 'held' })
  assert.equal(await images.find(idFor('b')), null)
})

test('learns the digests of what is held, however many damaged images come before', async (t) => {
  const parts = await partsFor(t)
  const [damaged, whole] = ['0000000000A', 'zzzzzzzzzzz']
  for (const id of [damaged, whole]) {
    await put(parts.objects, id, bytesFor(1, 3000))
    // By a server that did not know of digests.
    await parts.ledger.recordHold(id, 'x', new Date(parts.clock.now))
    await parts.objects.hold(id)
  }
  await truncate(join(parts.folder, 'held', damaged), 2000)
  const round = async () => {
    const moves = createMoves({
      ...parts,
      purges: NO_PURGES,
      now: () => parts.clock.now,
      onFailure: () => {},
      maxTidied: 1,
    })
    moves.start()
    await moves.stop()
  }
  // From any id on.
  for (let nth = 0; nth < 20; nth++) await round()
  assert.notEqual((await parts.ledger.holdOf(whole))?.digests, null)
  assert.equal((await parts.ledger.holdOf(damaged))?.digests, null)
})
