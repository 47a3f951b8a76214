/** Restores of damaged data, and restores without tombstones. */
import assert from 'node:assert/strict'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import type { Ledger } from '../../src/stores/ledger.ts'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { decision } from '../contracts/ledger/new-decision.ts'
import { assertServed, backedUp, operate, rot, untilNextName } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import type { Env } from '../support/processes/process.ts'
import { serverFor, startServer } from '../support/processes/server.ts'
import { flipBit } from '../support/store-folder.ts'
import { put } from '../support/stored-images.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, type Stored } from '../support/upload.ts'

interface Restored {
  damaged: string[]
  healed: string[]
  missing: string[]
  damagedFiles: string[]
  keptLedger: boolean
  isPrivate: boolean
}

async function restore(dataDir: string, args: string[], code = 0, env: Env = {}) {
  const ran = await operate(dataDir, ['restore', ...args, '--json'], env)
  assert.equal(ran.code, code, ran.stdout + ran.stderr)
  return JSON.parse(ran.stdout) as Restored
}

describe('operator restore of damaged data', () => {
  it('uses the intact copy wherever it is, names images without one, and can be repeated', async (t) => {
    const { dataDir, backup, server, images } = await backedUp(t, 8)
    // A ledger without history would be taken for one that a server has just created.
    assert.equal((await server.operator(['block', 'a'.repeat(64), '--reason', 'x'])).code, 0)
    await server.end()
    const [damagedLocally, damagedLocallyToo, damagedInBackup, damagedInBackupToo, damagedInBoth, ...sound] =
      images as [Stored, Stored, Stored, Stored, Stored]
    await rot(dataDir, damagedLocally, 'record')
    await rot(dataDir, damagedLocallyToo, 'body')
    await rot(backup, damagedInBackup, 'record')
    await rot(backup, damagedInBackupToo, 'body')
    await rot(dataDir, damagedInBoth, 'body')
    await rot(backup, damagedInBoth, 'record')
    for (let round = 0; round < 2; round++) {
      const restored = await restore(dataDir, [backup], 1)
      assert.deepEqual(restored.damaged, [damagedInBoth.id])
      assert.deepEqual(
        [...restored.healed].sort(),
        round > 0 ? [] : [damagedLocally.id, damagedLocallyToo.id].sort(),
      )
      assert.deepEqual([restored.missing, restored.keptLedger], [[], true])
      await server.restart()
      await assertServed(server, [
        damagedLocally,
        damagedLocallyToo,
        damagedInBackup,
        damagedInBackupToo,
        ...sound,
      ])
      assert.equal((await fetchRaw(server.url, damagedInBoth.id)).status, 500)
      await server.end()
    }
  })

  it('is refused while a server with a ledger in SQLite is running', async (t) => {
    const { dataDir, backup, server, images } = await backedUp(t, 1)
    const [deleted] = images as [Stored]
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    const ran = await operate(dataDir, ['restore', backup])
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, /a server is running: stop it first/)
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
    await server.restart()
  })

  it('does not report later deletions as missing, although a later backup removed the images', async (t) => {
    const { dataDir, backup, server, images } = await backedUp(t, 2)
    const [deleted, kept] = images as [Stored, Stored]
    const [older = ''] = (await readdir(join(backup, 'backup'))).filter((name) => name.endsWith('.json'))
    await untilNextName()
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    assert.equal((await server.operator(['backup', backup])).code, 0)
    await server.end()
    const restored = await restore(dataDir, [backup, '--name', older.replace('.json', '')])
    assert.deepEqual([restored.missing, restored.damaged], [[], []])
    await server.restart()
    await assertServed(server, [kept])
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
  })

  it('does not report images as missing that have expired since', async (t) => {
    const { folder, backup, server, images } = await backedUp(t, 2)
    await server.end()
    const [expired, kept] = images as [Stored, Stored]
    const store = await openFilesystemStore({ folder: join(backup, 'images'), hotSetBytes: 0 })
    await store.remove(expired.id)
    await put(store, expired.id, expired.bytes, { expiresAt: '2026-08-01T00:00:00.000Z' })
    await store.close()
    const target = join(folder, 'other')
    assert.deepEqual((await restore(target, [backup])).missing, [])
    assert.deepEqual(await readdir(join(target, 'images/objects')), [kept.id])
  })

  it('does not replace an existing ledger that is corrupt', async (t) => {
    const { folder, dataDir, backup, server, images } = await backedUp(t, 1)
    await server.end()
    const file = join(dataDir, 'ledger.sqlite')
    const corrupt = Buffer.alloc(8192, 'corrupt')
    await writeFile(file, corrupt)
    const ran = await operate(dataDir, ['restore', backup])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /can’t be read; to replace it, move ledger\.sqlite out of DATA_DIR/)
    assert.deepEqual(await readFile(file), corrupt)
    await rename(file, join(folder, 'corrupt.sqlite'))
    await restore(dataDir, [backup])
    await operate(dataDir, ['confirm-restore'])
    await server.restart()
    await assertServed(server, images)
  })

  it('falls back to an older ledger if the newest is damaged, and reports it', async (t) => {
    const { folder, backup, server, images } = await backedUp(t, 2)
    await untilNextName()
    await server.operator(['backup', backup])
    const ledgers = (await readdir(join(backup, 'backup'))).filter((name) => name.includes('ledger')).sort()
    assert.equal(ledgers.length, 2)
    await flipBit(join(backup, 'backup', ledgers[1]!), 20)
    const target = join(folder, 'other')
    const restored = await restore(target, [backup], 1)
    assert.deepEqual(restored.damagedFiles, [ledgers[1]])
    assert.equal((await operate(target, ['confirm-restore'])).code, 0)
    const other = await serverFor(t, {}, { dataDir: target })
    await assertServed(other, images)
    await flipBit(join(backup, 'backup', ledgers[0]!), 20)
    const ran = await operate(join(folder, 'third'), ['restore', backup])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /no backup with an intact ledger/)
    for (const name of ledgers) assert.ok(ran.stderr.includes(`damaged: ${name}`), ran.stderr)
    assert.ok(!(await readdir(folder)).includes('third'))
  })
})

it('a restore interrupted after it wrote a ledger does not keep it when another backup is restored', async (t) => {
  const env = { TOMBSTONES_URL: `file:${await folderOf(t)}` }
  const { folder, backup, server, images } = await backedUp(t, 2, env)
  const backUp = async () => {
    await untilNextName()
    assert.equal((await server.operator(['backup', backup])).code, 0)
    return (await readdir(join(backup, 'backup')))
      .filter((name) => name.endsWith('Z.json'))
      .sort()
      .at(-1)!
      .replace('.json', '')
  }
  // A ledger without history would be replaced.
  assert.equal((await server.operator(['block', 'a'.repeat(64), '--reason', 'x'])).code, 0)
  const older = await backUp()
  const [held, other] = images as [Stored, Stored]
  assert.equal((await server.operator(['hold', held.id, '--reason', 'x'])).code, 0)
  await backUp()
  await server.end()
  const target = join(folder, 'other')
  const first = await operate(target, ['restore', backup, '--name', older])
  assert.match(first.stderr, /set TOMBSTONES_URL and run restore again/)
  const newest = ['restore', backup, '--without-tombstones']
  const second = await operate(target, newest)
  assert.equal(second.code, 1, second.stdout)
  assert.ok(second.stderr.includes(`another backup, ${older}, was interrupted`), second.stderr)
  assert.match(second.stderr, /move ledger\.sqlite out of DATA_DIR/)
  await rename(join(target, 'ledger.sqlite'), join(folder, 'moved.sqlite'))
  await restore(target, newest.slice(1))
  assert.equal((await operate(target, ['confirm-restore'])).code, 0)
  const restored = await serverFor(t, {}, { dataDir: target })
  await assertServed(restored, [other])
  assert.equal((await fetchRaw(restored.url, held.id)).status, 403)
})

it('a decision that was pending in the backup is not carried out: its image stays held', async (t) => {
  const { folder, dataDir, backup, server, images } = await backedUp(t, 1)
  await server.end()
  const { id } = images[0]!
  const onLedger = async <T>(folder: string, work: (ledger: Ledger) => Promise<T>) => {
    const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
    return work(ledger).finally(ledger.close)
  }
  const at = Date.now()
  await onLedger(dataDir, async (ledger) => {
    await ledger.addDecisions(decision({ at, dueAt: at + 10_000 }), [{ id, isVisible: true }])
  })
  await untilNextName()
  assert.equal((await operate(dataDir, ['backup', backup])).code, 0)
  const target = join(folder, 'other')
  await restore(target, [backup])
  await onLedger(target, async (ledger) => {
    assert.deepEqual(await ledger.claimDecisions(10, at + 20_000, 1000), [])
    assert.deepEqual(await ledger.heldIds(10), [id])
  })
})

it('operator verify --repair --from heals in place, including held images, while the server is running', async (t) => {
  const { dataDir, backup, server, images } = await backedUp(t, 6)
  const [record, body, held, damagedInBoth, deleted, sound] = images as [
    Stored,
    Stored,
    Stored,
    Stored,
    Stored,
    Stored,
  ]
  await rot(dataDir, record, 'record')
  await rot(dataDir, body, 'body')
  await rot(dataDir, held, 'record')
  await rot(dataDir, damagedInBoth, 'body')
  await rot(backup, damagedInBoth, 'body')
  assert.equal((await remove(server.url, deleted.key)).status, 200)
  assert.equal((await server.operator(['hold', held.id, '--reason', 'damaged'])).code, 0)
  assert.equal((await server.operator(['verify', '--from', backup])).code, 2)
  const misspelled = await server.operator(['verify', '--repair', '--from', `${backup}s`])
  assert.equal(misspelled.code, 1)
  assert.match(misspelled.stderr, /--from is not a data folder/)
  const ran = await server.operator(['verify', '--repair', '--from', backup])
  assert.equal(ran.code, 1, 'one image has no intact copy')
  for (const [{ id }, done] of [
    [record, 'healed'],
    [body, 'healed'],
    [held, 'healed, still held'],
    [damagedInBoth, 'held: the backup has no intact copy'],
  ] as const) {
    assert.ok(ran.stdout.includes(`damaged ${id}: ${done}\n`), ran.stdout)
  }
  assert.match(ran.stdout, /: 4 findings\n$/, 'each is reported once')
  await assertServed(server, [record, body, sound])
  assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
  assert.equal((await fetchRaw(server.url, damagedInBoth.id)).status, 403)
  await server.operator(['release', held.id, '--reason', 'healed'])
  await assertServed(server, [held])
  const again = await server.operator(['verify', '--repair', '--from', backup])
  assert.deepEqual([again.code, again.stdout.includes(damagedInBoth.id)], [1, true])
})

describe('a restore without tombstones', () => {
  it('reports what is unknown, and shows no pictures until the operator confirms', async (t) => {
    const { folder, backup, server, images } = await backedUp(t, 3)
    const [deleted] = images as [Stored]
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    await server.kill()
    const target = join(folder, 'other')
    const ran = await operate(target, ['restore', backup])
    assert.equal(ran.code, 0, ran.stderr)
    assert.match(ran.stdout, /unknown: deletions and decisions from 20\S+Z until the disk was lost/)
    assert.match(ran.stdout, /npm run operator -- confirm-restore/)
    const other = await serverFor(t, {}, { dataDir: target })
    for (const { id } of images) {
      for (const path of [`/raw/${id}`, `/${id}`]) {
        assert.equal((await fetch(other.url + path)).status, 503, path)
      }
    }
    assert.equal((await post(other.url, gif())).status, 503)
    assert.equal((await remove(other.url, deleted.key)).status, 200, 'its uploader can delete it again')
    assert.match((await other.operator(['status'])).stdout, /images private/)
    assert.equal((await other.operator(['confirm-restore'])).code, 0)
    await other.restart()
    await assertServed(other, images.slice(1))
    assert.equal((await fetchRaw(other.url, deleted.id)).status, 404)
    assert.equal((await post(other.url, gif())).status, 201)
  })

  it('stays private if tombstones were last written long ago', async (t) => {
    const folder = await folderOf(t)
    const second = join(folder, 'second')
    const env = { TOMBSTONES_URL: `file:${second}` }
    const { backup, server, images } = await backedUp(t, 1, env)
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    await until('all tombstones are written', async () => {
      const text = await readFile(join(second, 'followed.json'), 'utf8').catch(() => '{}')
      return Date.parse(JSON.parse(text).until) > 0
    })
    await server.kill()
    const names = await readdir(backup, { recursive: true })
    const manifest = join(backup, names.find((name) => /\d+T\d+Z\.json$/.test(name))!)
    const made = JSON.parse(await readFile(manifest, 'utf8'))
    await writeFile(manifest, JSON.stringify({ ...made, begunAt: ago(60) }))
    for (const [minutes, isPrivate] of [
      [10, false],
      [20, true],
    ] as const) {
      await writeFile(join(second, 'followed.json'), JSON.stringify({ until: ago(minutes) }))
      const target = join(folder, `other-${minutes}`)
      assert.equal((await restore(target, [backup], 0, env)).isPrivate, isPrivate)
      const other = await startServer(env, { dataDir: target })
      assert.equal((await fetchRaw(other.url, images[0]!.id)).status, isPrivate ? 503 : 200)
      if (isPrivate) assert.equal((await other.operator(['confirm-restore'])).code, 0)
      await other.restart()
      await assertServed(other, images)
      await other.stop()
    }
  })

  it('is refused if tombstones were kept, unless they are lost too', async (t) => {
    const folder = await folderOf(t)
    const env = { TOMBSTONES_URL: `file:${join(folder, 'second')}` }
    const { backup, server } = await backedUp(t, 1, env)
    await server.kill()
    const target = join(folder, 'other')
    const refused = await operate(target, ['restore', backup])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /set TOMBSTONES_URL/)
    await assert.rejects(startServer({}, { dataDir: target }), /being restored/)
    const restored = await restore(target, [backup, '--without-tombstones'])
    assert.equal(restored.isPrivate, true)
    await startServer({}, { dataDir: target }).then((other) => other.stop())
  })
})
