/** The operator's decisions are carried out, even if processes die in between. */
import assert from 'node:assert/strict'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { NO_PURGES } from '../src/service/images/purges.ts'
import { findImage } from '../src/service/images/status.ts'
import { createDecisions, UNDO_MS } from '../src/service/moderation/decisions.ts'
import { type Evidence, SEALED_RULE } from '../src/service/moderation/evidence.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { type Ledger, LedgerUnavailable } from '../src/stores/ledger.ts'
import { type ObjectStore, openAnywhere, StoreUnavailable } from '../src/stores/object-store.ts'
import { report } from './contracts/ledger/new-report.ts'
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
import { imagesOn, storesOf } from './support/stores.ts'
import { until } from './support/until.ts'

const ID = idFor('a')

const KEY = ID + 'k'.repeat(32)
const BYTES = bytesFor(1, 3000)

async function partsFor(t: TestContext) {
  return { ...(await storesOf(t)), clock: { now: Date.now() } }
}

/** The same with an image that `KEY` deletes. */
async function partsWithImage(t: TestContext) {
  const parts = await partsFor(t)
  return { ...parts, record: await put(parts.objects, ID, BYTES, { keySha256: nodeHashes.sha256(KEY) }) }
}

/** Changes of a store that is unavailable for one of its methods. */
const away = (method: 'hold' | 'removeHeld') => ({ [method]: () => Promise.reject(new Error('away')) })

function newProcess(
  parts: { objects: ObjectStore; ledger: Ledger; clock: { now: number } },
  changes: Partial<ObjectStore> = {},
) {
  const args = {
    objects: { ...parts.objects, ...changes },
    ledger: parts.ledger,
    purges: NO_PURGES,
    now: () => parts.clock.now,
    onFailure: () => {},
  }
  const moves = createMoves(args)
  return { moves, takedown: createTakedown({ ...args, moves, evidence: null }) }
}

test('another process finishes a hold, release or removal if its process dies', async (t) => {
  const parts = await partsWithImage(t)
  const { record } = parts
  const dead = new Promise<never>(() => {})
  const living = newProcess(parts)
  for (const [act, at, check] of [
    ['hold', 'before', () => assertHeld(parts.objects, record, BYTES)],
    ['release', 'before', () => assertHolds(parts.objects, record, BYTES)],
    ['hold', 'after', () => assertHeld(parts.objects, record, BYTES)],
    ['release', 'after', () => assertHolds(parts.objects, record, BYTES)],
    ['remove', 'before', () => assertAbsent(parts.objects, ID)],
  ] as const) {
    let isReached = false
    const stop = async () => {
      isReached = true
      return dead
    }
    const dying = newProcess(parts, {
      [act]: at === 'before' ? stop : (id: string) => parts.objects[act](id).then(stop),
    })
    if (act === 'remove') void dying.takedown.remove(ID, 'x', { block: false })
    else void dying.takedown[act](ID, 'x')
    await until('it died', () => isReached)
    parts.clock.now += 120_000
    living.moves.start()
    await until('the move is done', async () => (await parts.ledger.claimMove(ID, 0, 1)) === null)
    await living.moves.stop()
    await check()
  }
  assert.deepEqual(
    (await parts.ledger.auditLog(10)).map(({ act }) => act),
    ['remove', 'release', 'hold', 'release', 'hold'],
  )
})

test('the last of several concurrent decisions wins', async (t) => {
  const parts = await partsWithImage(t)
  const { record } = parts
  const [one, two] = [newProcess(parts), newProcess(parts)]
  for (let count = 0; count < 10; count++) {
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? one.takedown.hold(ID, 'x') : two.takedown.release(ID, 'x'),
      ),
    )
    const [last] = await parts.ledger.auditLog(1)
    const isHeld = (await parts.ledger.absenceReason(ID))?.state === 'held'
    assert.equal(isHeld, last === undefined ? false : last.act === 'hold')
    if (isHeld) await assertHeld(parts.objects, record, BYTES)
    else await assertHolds(parts.objects, record, BYTES)
  }
})

test('a temporarily unavailable store delays a hold, but does not lose it', async (t) => {
  const parts = await partsWithImage(t)
  const { record } = parts
  const failing = newProcess(parts, away('hold'))
  await assert.rejects(failing.takedown.hold(ID, 'x'), /away/)
  await assertHolds(parts.objects, record, BYTES)
  parts.clock.now += 10_000
  const { moves } = newProcess(parts)
  moves.start()
  await until('it is held', async () => (await parts.objects.head(ID)) === null)
  await moves.stop()
  await assertHeld(parts.objects, record, BYTES)
})

test('a recorded removal is carried out, whatever is decided concurrently', async (t) => {
  for (const act of ['release', 'hold'] as const)
    for (const isHeld of [true, false]) {
      const parts = await partsWithImage(t)
      const other = newProcess(parts)
      if (isHeld) await other.takedown.hold(ID, 'x')
      let answer: unknown
      const recordRemoval: Ledger['recordRemoval'] = async (...args) => {
        const isRecorded = await parts.ledger.recordRemoval(...args)
        answer = await other.takedown[act](ID, 'y')
        return isRecorded
      }
      const { takedown } = newProcess({ ...parts, ledger: { ...parts.ledger, recordRemoval } })
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
  test(`a ${act} at the moment a removal is due cancels it, and blocks nothing`, async (t) => {
    const parts = await partsWithImage(t)
    const { record } = parts
    const { takedown, moves } = newProcess(parts)
    await parts.ledger.fileReport(report({ id: ID }), 10)
    let answer: unknown
    const recordRemoval: Ledger['recordRemoval'] = async (...args) => {
      answer ??= await takedown[act](ID, 'y')
      return parts.ledger.recordRemoval(...args)
    }
    const args = { ...parts, ledger: { ...parts.ledger, recordRemoval } }
    const late = newProcess(args)
    const decisions = createDecisions({
      ...args,
      ...late,
      moves,
      evidence: null,
      now: () => parts.clock.now,
      onFailure: (error) => assert.fail(String(error)),
    })
    await decisions.decide([ID], 'remove', { block: true, reason: 'z', by: { who: 'ann' } })
    parts.clock.now += UNDO_MS
    decisions.start()
    await decisions.stop()
    assert.equal(answer, true)
    await assertHolds(parts.objects, record, BYTES)
    assert.equal(await parts.ledger.absenceReason(ID), null)
    assert.equal(await parts.ledger.withheldReason([record.sha256]), null)
    const acts = (await parts.ledger.auditLog(20)).map((entry) => entry.act)
    assert.ok(!acts.includes('remove') && !acts.includes('block'), acts.join())
  })
}

test('a large batch is recorded in parts, and can still be undone once it is hidden', async (t) => {
  const parts = await partsWithImage(t)
  let turns = 0
  const turning = setInterval(() => turns++, 0)
  t.after(() => clearInterval(turning))
  const turnOfPart: number[] = []
  const addDecisions: Ledger['addDecisions'] = (decision, images) => {
    assert.ok(images.length <= 200)
    turnOfPart.push(turns)
    return parts.ledger.addDecisions(decision, images)
  }
  const ids = Array.from({ length: 500 }, (_, index) => `${index}`.padStart(11, '0'))
  const carryOut = async () => {
    parts.clock.now += 20
    return true
  }
  const decisions = createDecisions({
    ...parts,
    ...newProcess(parts),
    ledger: { ...parts.ledger, addDecisions },
    objects: { ...parts.objects, head: async () => parts.record },
    moves: { ...newProcess(parts).moves, carryOut },
    evidence: null,
    now: () => parts.clock.now,
    onFailure: (error) => assert.fail(String(error)),
  })
  const { batch } = await decisions.decide(ids, 'remove', { block: true, reason: 'z', by: { who: 'ann' } })
  assert.equal((await parts.ledger.auditLog(1000)).length, ids.length)
  assert.equal(new Set(turnOfPart).size, 3, 'other work runs in between')
  assert.equal((await decisions.undo(batch, 'ann')).length, ids.length)
  await decisions.stop()
})

test('an image removed as child abuse is sealed at once, even if it cannot be hidden yet', async (t) => {
  const parts = await partsWithImage(t)
  const sealed: string[] = []
  const decisions = createDecisions({
    ...parts,
    ...newProcess(parts, away('hold')),
    evidence: {
      keep: async (id: string) => void sealed.push(id),
    } as unknown as Evidence,
    now: () => parts.clock.now,
    onFailure: (error) => assert.fail(String(error)),
  })
  const by = { who: 'ann', rule: SEALED_RULE }
  await assert.rejects(decisions.decide([ID], 'remove', { block: true, reason: 'z', by }), /away/)
  await decisions.stop()
  assert.deepEqual(sealed, [ID])
})

test('a removal delayed by the store is carried out despite a later release', async (t) => {
  const parts = await partsWithImage(t)
  const { moves, takedown } = newProcess(parts)
  await takedown.hold(ID, 'x')
  const failing = newProcess(parts, away('removeHeld'))
  await assert.rejects(failing.takedown.remove(ID, 'y', { block: false }), /away/)
  assert.equal(await takedown.release(ID, 'z'), false)
  await assertAbsent(parts.objects, ID)
  parts.clock.now += 10_000
  moves.start()
  await until('it is gone', async () => (await parts.objects.headHeld(ID)) === null)
  await moves.stop()
  await assertAbsent(parts.objects, ID)
})

for (const [late, next] of [
  ['release', 'hold'],
  ['hold', 'release'],
] as const)
  test(`a ${late} queued behind a slow one does not undo a later ${next}`, async (t) => {
    const parts = await partsFor(t)
    const ids = ['a', 'b', 'c'].map(idFor)
    const living = newProcess(parts)
    for (const id of ids) {
      await put(parts.objects, id, BYTES)
      if (late === 'release') await living.takedown.hold(id, 'x')
      // The process dies before it moves anything.
      if (late === 'release') await parts.ledger.recordRelease(id, 'y', new Date(parts.clock.now))
      else await parts.ledger.recordHold(id, 'y', new Date(parts.clock.now))
    }
    const { promise: stalled, resolve: resume } = Promise.withResolvers<void>()
    const begun: string[] = []
    const slow = newProcess(parts, {
      [late]: async (id: string) => {
        begun.push(id)
        if (begun.length === 1) await stalled
        return parts.objects[late](id)
      },
    })
    slow.moves.start()
    await until('the first move has begun', () => begun.length === 1)
    parts.clock.now += 61_000
    living.moves.start()
    const isDone = async (id: string) => (await parts.ledger.claimMove(id, 0, 1)) === null
    await until('all moves are done', async () => (await Promise.all(ids.map(isDone))).every(Boolean))
    await living.moves.stop()
    for (const id of ids) assert.equal(await living.takedown[next](id, 'z'), true)
    resume()
    await slow.moves.stop()
    living.moves.start()
    await until('all are in place', async () => {
      const seen = await Promise.all(ids.map((id) => parts.objects.head(id)))
      const done = await Promise.all(ids.map(isDone))
      return done.every(Boolean) && seen.every((record) => (record === null) === (next === 'hold'))
    })
    await living.moves.stop()
    assert.deepEqual((await parts.ledger.heldIds(10)).sort(), next === 'hold' ? [...ids].sort() : [])
    assert.deepEqual(begun, ids.slice(0, 1), 'the slow process claimed nothing else')
  })

test('purges caches after a removal even if the response of the store was lost', async (t) => {
  const parts = await partsWithImage(t)
  const log: string[] = []
  const remove: ObjectStore['remove'] = async (...args) => {
    await parts.objects.remove(...args)
    log.push('removed')
    throw new StoreUnavailable()
  }
  const purges = { ...NO_PURGES, enqueue: async () => void log.push('purge') }
  const images = imagesOn({ ...parts, objects: { ...parts.objects, remove }, purges })
  await assert.rejects(images.remove(KEY), { code: 'unavailable' })
  assert.deepEqual(log, ['purge', 'removed', 'purge'])
})

for (const moment of ['lookup', 'removal'])
  test(`deletes an image by key if it is released during the ${moment}`, async (t) => {
    const parts = await partsWithImage(t)
    const { takedown } = newProcess(parts)
    await takedown.hold(ID, 'x')
    let isReleased = false
    /** Releases the image right after the call. */
    const releasing = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
      return async (...args: Args): Promise<Result> => {
        const result = await call(...args)
        if (!isReleased) {
          isReleased = true
          assert.equal(await takedown.release(ID, 'y'), true)
        }
        return result
      }
    }
    const method = moment === 'lookup' ? 'head' : 'remove'
    const objects = {
      ...parts.objects,
      [method]: releasing<never[], unknown>(parts.objects[method] as never),
    }
    assert.equal(await imagesOn({ ...parts, objects }).remove(KEY), true)
    assert.equal(isReleased, true)
    await assertAbsent(parts.objects, ID)
    assert.equal(await parts.objects.headHeld(ID), null)
    assert.equal(await imagesOn(parts).remove(KEY), false)
  })

for (const act of ['release', 'keep'] as const)
  test(`a ${act} supersedes an earlier hold delayed by the store`, async (t) => {
    const parts = await partsWithImage(t)
    const { record } = parts
    await parts.ledger.fileReport(report({ id: ID }), 5)
    const { moves, takedown } = newProcess(parts)
    const failing = newProcess(parts, away('hold'))
    await assert.rejects(failing.takedown.hold(ID, 'x'), /away/)
    parts.clock.now += 10_000
    assert.equal(await takedown[act](ID, 'y'), true)
    await moves.carryOut(ID)
    await assertHolds(parts.objects, record, BYTES)
    assert.equal(await parts.ledger.holdOf(ID), null)
    assert.equal((await parts.ledger.caseOf(ID))?.state, act === 'keep' ? 'kept' : 'open')
  })

for (const act of ['release', 'keep'] as const)
  test(`a ${act} ends the hold of an image whose deletion was interrupted`, async (t) => {
    const parts = await partsWithImage(t)
    const { sha256 } = parts.record
    await parts.ledger.fileReport(report({ id: ID }), 5)
    const { takedown } = newProcess(parts)
    await takedown.hold(ID, 'x')
    const recordHeldDeleted = () => Promise.reject(new Error('this process died'))
    const dying = imagesOn({ ...parts, ledger: { ...parts.ledger, recordHeldDeleted } })
    await assert.rejects(dying.remove(KEY), /died/)
    assert.equal(await parts.ledger.withheldReason([sha256]), 'held')
    assert.equal((await findImage(parts, ID)).state, 'withheld')
    assert.equal(await takedown[act](ID, 'y'), true)
    assert.equal(await parts.ledger.withheldReason([sha256]), null)
  })

test('an image held during a keep does not end up held with a closed case', async (t) => {
  const parts = await partsWithImage(t)
  const { record } = parts
  await parts.ledger.fileReport(report({ id: ID }), 5)
  const { takedown } = newProcess(parts)
  let isHeld = false
  const recordKeep: Ledger['recordKeep'] = async (...args) => {
    if (!isHeld) {
      isHeld = true
      assert.equal(await takedown.hold(ID, 'x'), true)
    }
    return parts.ledger.recordKeep(...args)
  }
  const keeping = newProcess({ ...parts, ledger: { ...parts.ledger, recordKeep } })
  assert.equal(await keeping.takedown.keep(ID, 'y'), true)
  await assertHolds(parts.objects, record, BYTES)
  assert.equal((await parts.ledger.caseOf(ID))?.state, 'kept')
})

for (const action of ['a report', 'a removal that blocks', 'a scanner'] as const)
  test(`${action} finds an image that is released during the lookup`, async (t) => {
    const parts = await partsWithImage(t)
    const { sha256 } = parts.record
    const { takedown } = newProcess(parts)
    await takedown.hold(ID, 'x')
    let isReleased = false
    const release = async () => {
      if (!isReleased) {
        isReleased = true
        assert.equal(await takedown.release(ID, 'y'), true)
      }
    }
    const headHeld: ObjectStore['headHeld'] = (id) => release().then(() => parts.objects.headHeld(id))
    if (action === 'a scanner') {
      const openHeld: ObjectStore['openHeld'] = (id) => release().then(() => parts.objects.openHeld(id))
      assert.equal((await openAnywhere({ ...parts.objects, openHeld }, ID))?.record.sha256, sha256)
    } else if (action === 'a report') {
      const objects = { ...parts.objects, headHeld }
      assert.equal((await findImage({ ...parts, objects }, ID)).state, 'visible')
    } else {
      const removal = await newProcess(parts, { headHeld }).takedown.remove(ID, 'z', { block: true })
      assert.deepEqual(removal, { removed: true, blocked: [sha256] })
    }
  })

test('an image held at the end of its upload is kept, and can be released', async (t) => {
  const parts = await partsFor(t)
  const failing = newProcess(parts, away('hold'))
  let isHeld = false
  const absenceReason: Ledger['absenceReason'] = async (id) => {
    // The image is stored and visible to a retry and the operator.
    if (!isHeld && (await parts.objects.head(id)) !== null) {
      isHeld = true
      await assert.rejects(failing.takedown.hold(id, 'x'), /away/)
    }
    return parts.ledger.absenceReason(id)
  }
  const images = imagesOn({ ...parts, ledger: { ...parts.ledger, absenceReason } })
  const bytes = gif()
  let isKept = false
  const upload = images.publish(inChunks(bytes), {
    identity: { id: ID, key: KEY, isDerived: true },
    onStored() {
      isKept = true
    },
  })
  await assert.rejects(upload, { code: 'held' })
  parts.clock.now += 10_000
  await newProcess(parts).moves.carryOut(ID)
  assert.equal(await newProcess(parts).takedown.release(ID, 'y'), true)
  assert.deepEqual(await bodyOf((await parts.objects.open(ID))!), bytes)
  assert.equal(isKept, true, 'it counts against the quota of its address')
})

test('reports a damaged image as held while the ledger is unavailable', async (t) => {
  const parts = await partsWithImage(t)
  await newProcess(parts).takedown.hold(ID, 'x')
  await truncate(join(parts.folder, 'images/held', ID), 2000)
  const absenceReason = () => Promise.reject(new LedgerUnavailable({ cause: new Error('away') }))
  const images = imagesOn({ ...parts, ledger: { ...parts.ledger, absenceReason } })
  await assert.rejects(images.find(ID), { code: 'held' })
  await assert.rejects(images.open(ID), { code: 'held' })
  assert.equal(await images.find(idFor('b')), null)
})

test('backfills the digests of held images, regardless of damaged images before them', async (t) => {
  const parts = await partsFor(t)
  const [damaged, whole] = ['0000000000A', 'zzzzzzzzzzz']
  for (const id of [damaged, whole]) {
    await put(parts.objects, id, BYTES)
    // As an older version did, without digests.
    await parts.ledger.recordHold(id, 'x', new Date(parts.clock.now))
    await parts.objects.hold(id)
  }
  await truncate(join(parts.folder, 'images/held', damaged), 2000)
  const runOnce = async () => {
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
  // Each run starts at a random ID.
  for (let count = 0; count < 20; count++) await runOnce()
  assert.notEqual((await parts.ledger.holdOf(whole))?.digests, null)
  assert.equal((await parts.ledger.holdOf(damaged))?.digests, null)
})
