/** Backups, copies and upgrades leave no data derived from client addresses. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../../src/stores/sql/schema.ts'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { openServerLock } from '../../src/stores/sqlite/servers.ts'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import { ROOT } from '../support/processes/process.ts'
import { serverFor } from '../support/processes/server.ts'
import { tracesIn } from '../support/traces.ts'
import { post, store } from '../support/upload.ts'

const ADDRESS = '203.0.113.77'
const today = () => new Date().toISOString().slice(0, 10)
const hex = (text: string) => createHmac('sha256', 'test').update(text).digest('hex')

/** Everything derived from the address today, and the salts, as read from the disk. */
async function derived(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, 'private')
  const traces: string[] = []
  for (const name of await readdir(folder)) {
    if (!/^salt-[-\d]+(-links)?$/.test(name)) continue
    const salt = await readFile(join(folder, name), 'utf8')
    for (const label of ['', 'network ', 'uploader ']) {
      const subject = label === 'network ' ? '203.0.113.0/24' : ADDRESS
      traces.push(
        createHmac('sha256', Buffer.from(salt, 'hex'))
          .update(`${label}${subject}`)
          .digest('hex')
          .slice(0, 32),
      )
    }
    traces.push(salt)
  }
  return traces
}

describe('copies of a ledger', () => {
  for (const technology of ['sqlite', 'postgres'] as const) {
    it(`contain no salt and nothing derived from an address: ${technology}`, async (t) => {
      const postgres = technology === 'postgres' ? await startPostgres() : null
      if (postgres) t.after(() => postgres.destroy())
      const env: Record<string, string> =
        postgres === null ? {} : { LEDGER_URL: await postgres.createSchema() }
      const server = await serverFor(t, { ...env, NETWORK_UPLOADS: '100' })
      await store(server.url, gif(), ADDRESS)
      const traces = await derived(server.dataDir)
      assert.ok(traces.length >= 12, 'from three salts')
      const copies = await folderOf(t)
      const backup = await server.operator(['backup', join(copies, 'backup')])
      assert.equal(backup.code, 0, backup.stderr)
      const copied = await server.operator(['copy', '--from', server.dataDir, '--to', join(copies, 'copy')])
      assert.equal(copied.code, 0, copied.stderr)
      await writeFile(join(copies, 'export'), (await server.operator(['export'])).stdout)
      const names = await readdir(join(copies, 'backup', 'backup'))
      const packed = names.find((name) => name.endsWith('.gz'))!
      const plain = gunzipSync(await readFile(join(copies, 'backup', 'backup', packed)))
      await writeFile(join(copies, 'unpacked'), plain)
      assert.ok(plain.includes('migrations') || plain.includes('instance') || plain.length > 1000)
      assert.deepEqual(await tracesIn(copies, traces), [])
      if (postgres === null) {
        const live = await tracesIn(server.dataDir, traces)
        assert.ok(new Set(live.map(({ text }) => text)).size >= 6, 'they exist during the day')
        assert.ok(
          live.every(({ file }) => file.startsWith('private/')),
          'and only in the private folder',
        )
      }
    })
  }
})

describe('a ledger of version 0.1.0', () => {
  const salt = hex('salt')
  const bucket = createHmac('sha256', Buffer.from(salt, 'hex')).update(ADDRESS).digest('hex').slice(0, 32)
  const [tag, oldSalt, oldBucket] = [hex('tag').slice(0, 32), hex('old'), hex('bucket').slice(0, 32)]
  const rows = () => [
    `insert into salts (day, salt) values ('${today()}', '${salt}'), ('2026-01-01', '${oldSalt}')`,
    `insert into places (day, bucket, used) values ('${today()}', '${bucket}', 4), ('2026-01-01', '${oldBucket}', 9)`,
    `insert into shares (day, name, used) values ('${today()}', 'daily-uploads', 4)`,
    `insert into links values (${Date.now()}, 1, 'AAAAAAAAAAA', '${tag}', '${tag}'),
      (${Date.now()}, 2, 'BBBBBBBBBBB', '${tag}', '${hex('x').slice(0, 32)}')`,
  ]

  it('in SQLite keeps today’s usage, and no private data in its own file', async (t) => {
    const dataDir = await folderOf(t)
    await cp(join(ROOT, 'test/releases/0.1.0'), dataDir, { recursive: true })
    await rm(join(dataDir, 'stored.json'))
    const file = join(dataDir, 'ledger.sqlite')
    const old = new DatabaseSync(file)
    const applied = old
      .prepare('select name from migrations')
      .all()
      .map(({ name }) => String(name))
    for (const { name, statements } of pendingMigrations(applied, 'sqlite')) {
      if (name > '012-links') break
      for (const statement of statements) old.exec(statement)
    }
    for (const row of rows()) old.exec(row)
    old.close()
    const traces = [salt, oldSalt, bucket, oldBucket, tag]
    const inLedger = async () =>
      (await tracesIn(dataDir, traces)).filter(({ file }) => !file.startsWith('private/'))
    assert.equal((await inLedger()).length, 5)

    const servers = openServerLock(`${file}-servers`, 100)
    await servers.join(async () => {})
    await assert.rejects(
      openSqliteLedger({ file, timeoutMs: 200 }),
      /a server of an older version is on .*stop it first/,
    )
    servers.leave()
    // Simulates a start that was killed after copying.
    const first = await openSqliteLedger({ file })
    await first.close()
    const server = await serverFor(t, { UPLOADS_PER_DAY: '5', NETWORK_UPLOADS: '0' }, { dataDir })
    assert.deepEqual(await inLedger(), [])
    const upload = async () => (await post(server.url, gif(), ADDRESS)).status
    assert.deepEqual([await upload(), await upload()], [201, 429])
    const ledger = await openSqliteLedger({ file })
    t.after(() => ledger.close())
    assert.deepEqual(await ledger.sameUploader('AAAAAAAAAAA', 9), ['BBBBBBBBBBB'])
    assert.equal(await ledger.usedCapacity('daily-uploads', today()), 4)
    await ledger.eraseDaysBefore(today())
    assert.deepEqual(await tracesIn(dataDir, [oldSalt, oldBucket]), [])
  })

  it('in Postgres keeps today’s usage, and servers of both versions share their counts', async (t) => {
    const postgres = await startPostgres()
    t.after(() => postgres.destroy())
    const url = await postgres.createSchema()
    const old = new Client({ connectionString: url })
    await old.connect()
    old.on('error', () => {})
    t.after(() => old.end())
    await old.query(CREATE_MIGRATIONS)
    for (const { name, statements } of pendingMigrations([], 'postgres')) {
      if (name > '012-links') break
      for (const statement of statements) await old.query(statement)
    }
    for (const row of rows()) await old.query(row)
    const ledger = await openPostgresLedger({ url })
    t.after(() => ledger.close())
    assert.equal(Buffer.from(await ledger.daySalt(today())).toString('hex'), salt)
    const reserveByOldServer = (day: string) =>
      old.query(`insert into places (day, bucket, used) values ('${day}', '${bucket}', 1)
        on conflict (day, bucket) do update set used = places.used + 1 where places.used < 6 returning used`)
    assert.equal((await reserveByOldServer(today())).rows[0].used, '5')
    assert.equal(await ledger.reserveUpload(bucket, today(), 6), 6)
    assert.equal((await reserveByOldServer(today())).rows.length, 0)
    // A day begun by a server of the previous version.
    assert.equal((await reserveByOldServer('2030-01-01')).rows[0].used, '1')
    assert.equal(await ledger.reserveUpload(bucket, '2030-01-01', 6), 2)
    assert.deepEqual(await ledger.sameUploader('AAAAAAAAAAA', 9), ['BBBBBBBBBBB'])
    // Tables that were renamed since, under their old names.
    await old.query(`insert into acts (number, at_ms, recorded_us, act, subject, reason, who, rule)
      values ('n', 1, 1, 'hold', 'AAAAAAAAAAA', 'spam', 'ann', '')`)
    assert.deepEqual(
      (await ledger.auditLog(9)).map(({ act, who }) => [act, who]),
      [['hold', 'ann']],
    )
    const begin = `insert into conditions (name, since_ms, mark) values ('disk a', 5, 'm') on conflict (name) do nothing`
    assert.deepEqual([(await old.query(begin)).rowCount, (await old.query(begin)).rowCount], [1, 0])
    assert.equal(await ledger.raiseAlert('disk a', new Date(), { raises: null, pause: null }), false)
    await old.query(`delete from conditions where name in ('disk a')`)
    assert.deepEqual(await ledger.activeAlerts(), [])
    await ledger.eraseDaysBefore(today())
    assert.equal(await ledger.usedUploads(bucket, today()), 6)
    // Leftovers of the upgrade's day are deleted with that day.
    await ledger.eraseDaysBefore('2031-01-01')
    await postgres.stop()
    await postgres.start()
    await postgres.finishWal()
    assert.deepEqual(await tracesIn(postgres.folder, [salt, oldSalt, bucket, oldBucket]), [])
  })
})
