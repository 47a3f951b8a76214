/** Operator commands report the data that they work on, and touch no other. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chown, link, lstat, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { atAdmin } from '../support/at-admin.ts'
import { backedUp, operate, rot } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type PostgresServer, startPostgres } from '../support/processes/postgres.ts'
import { launch, NODE, run } from '../support/processes/process.ts'
import { type RunningServer, serverEnv, serverFor, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, type Stored, store } from '../support/upload.ts'

const REMOVAL = ['--reason', 'terms']

/** A user ID of no account on this machine. */
const OWNER = 54_321

/** On Linux, a folder on another file system than the others. */
const OTHER_DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

describe('operator commands', () => {
  let server: RunningServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  it('finishes its work if its output cannot be written, and exits with 1', async () => {
    const ids = [(await store(server.url)).id, (await store(server.url)).id]
    const args = `exec ${NODE} src/node/operator.ts hold ${ids.join(' ')} --reason terms >/dev/full`
    const { code, stderr } = await run(['-c', args], serverEnv({}, server.dataDir), 'sh')
    assert.equal(code, 1)
    assert.match(stderr, /^the output could not be written: ENOSPC/m)
    for (const id of ids) assert.equal((await fetchRaw(server.url, id)).status, 403)
  })

  it('refuses a folder that is not a data folder, and does not create one', async (t) => {
    const folder = await folderOf(t)
    const { id } = await store(server.url)
    const ran = await operate(join(folder, 'data'), ['remove', id, ...REMOVAL])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /images and ledger\.sqlite missing/)
    assert.equal(ran.stdout, '')
    assert.ok(!existsSync(join(folder, 'data')))
    assert.equal((await fetchRaw(server.url, id)).status, 200)
  })

  it('refuses to back up the data to where it is', async (t) => {
    const linked = join(await folderOf(t), 'linked')
    await symlink(server.dataDir, linked)
    for (const location of [
      server.dataDir,
      `${server.dataDir}/`,
      '',
      linked,
      join(server.dataDir, 'images'),
    ]) {
      const ran = await server.operator(['backup', location])
      assert.equal(ran.code, 1, ran.stdout)
      assert.match(ran.stderr, /the location of the data itself/)
      assert.ok(!existsSync(join(server.dataDir, 'backup')))
    }
  })

  it('warns of a backup on the disk of the data, as the disk for it may not be mounted', async (t) => {
    const [folder, other] = [await folderOf(t), await mkdtemp(join(OTHER_DISK, 'pinhole-'))]
    t.after(() => rm(other, { recursive: true }))
    for (const [location, warns] of [
      [join(folder, 'backup'), true],
      [other, (await stat(other)).dev === (await stat(folder)).dev],
    ] as const) {
      const { code, stderr } = await server.operator(['backup', location])
      assert.deepEqual([code, /on the disk of DATA_DIR/.test(stderr)], [0, warns], stderr)
    }
  })

  it('reads variables from the same file as the systemd unit, and reports which data it works on', async () => {
    const file = join(server.dataDir, 'pinhole.env')
    await writeFile(
      file,
      `DATA_DIR=${server.dataDir}\nNOTIFY=ntfy://host/topic?a=b&c=d\nUPLOADS_PER_DAY="5"\n`,
    )
    const ran = await run(['src/node/operator.ts', '--env-file', file, 'status'])
    assert.equal(ran.code, 0, ran.stderr)
    assert.ok(ran.stderr.includes(`Images: ${server.dataDir}/images`), ran.stderr)
    assert.ok(ran.stderr.includes(`Ledger: ${server.dataDir}/ledger.sqlite`), ran.stderr)
  })

  it('exits with 1 if an image does not exist', async () => {
    const { id } = await store(server.url)
    const ran = await server.operator(['remove', id, 'AAAAAAAAAAA', ...REMOVAL])
    assert.equal(ran.code, 1)
    assert.match(ran.stdout, new RegExp(`removed ${id}\nAAAAAAAAAAA did not exist`))
    assert.equal((await fetchRaw(server.url, id)).status, 410)
  })

  it('finishes its work if the reader of its output disappears', async () => {
    const images = await Promise.all(Array.from({ length: 12 }, () => store(server.url)))
    const args = ['src/node/operator.ts', 'remove', ...images.map(({ id }) => id), ...REMOVAL]
    const { child, ended } = launch(args, serverEnv({}, server.dataDir))
    child.stdout!.destroy()
    const { code, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /EPIPE/)
    for (const { id } of images) assert.equal((await fetchRaw(server.url, id)).status, 410)
  })

  it('refuses settings that differ from the server’s, and shows the difference', async () => {
    await server.restart({ CDN_URL: 'varnish://10.0.0.1:80?peer=10.0.0.2:80' })
    const { id } = await store(server.url)
    const ran = await operate(server.dataDir, ['remove', id, ...REMOVAL])
    assert.equal(ran.code, 1)
    assert.match(
      ran.stderr,
      /CDN_URL: none here, varnish:\/\/10\.0\.0\.1:80\?peer=10\.0\.0\.2%3A80 in the ledger/,
    )
    assert.equal((await fetchRaw(server.url, id)).status, 200)
    assert.equal((await server.operator(['status'])).code, 0)
  })
})

describe('commands run as root', { skip: process.getuid?.() !== 0 && 'needs root' }, () => {
  it('leave no files that the folder’s owner cannot read', async (t) => {
    const server = await serverFor(t)
    const { dataDir } = server
    const backups = await folderOf(t)
    const { id } = await store(server.url)
    assert.equal((await server.operator(['backup', backups])).code, 0)
    await server.end()
    await rm(join(dataDir, 'images', 'objects', id))
    await rm(join(dataDir, 'ledger.sqlite'))
    await chown(dataDir, OWNER, OWNER)
    for (const entry of await readdir(dataDir, { recursive: true }))
      await chown(join(dataDir, entry), OWNER, OWNER)
    for (const args of [['restore', backups], ['verify', '--repair'], ['status']]) {
      const ran = await server.operator(args)
      assert.equal(ran.code, 0, ran.stderr)
    }
    const entries = await readdir(dataDir, { recursive: true })
    assert.ok(entries.includes(join('images', 'objects', id)))
    for (const entry of entries) assert.equal((await lstat(join(dataDir, entry))).uid, OWNER, entry)
  })

  it('leave none either when they are interrupted', async (t) => {
    const { dataDir, backup, server, images } = await backedUp(t, 1)
    const [{ id }] = images as [Stored]
    await server.end()
    await rot(dataDir, images[0]!, 'body')
    for (const entry of ['', ...(await readdir(dataDir, { recursive: true }))])
      await chown(join(dataDir, entry), OWNER, OWNER)
    // After the image that it repairs, it waits for a day.
    const args = ['verify', '--repair', '--from', backup, '--rate', '0.000001']
    const { child, output, ended } = launch(['src/node/operator.ts', ...args], serverEnv({}, dataDir))
    await until('the image is repaired', () => output.stdout.includes('healed') || child.exitCode !== null)
    child.kill('SIGINT')
    assert.equal((await ended).code, 130)
    assert.equal((await lstat(join(dataDir, 'images', 'objects', id))).uid, OWNER)
  })

  it('keep files of root’s that the folder’s owner has linked into it', async (t) => {
    const server = await serverFor(t)
    const outside = await folderOf(t)
    const file = join(outside, 'secret')
    await writeFile(file, 'root’s')
    await link(file, join(server.dataDir, 'name'))
    await symlink(outside, join(server.dataDir, 'folder'))
    await chown(server.dataDir, OWNER, OWNER)
    assert.equal((await server.operator(['status'])).code, 0)
    assert.equal((await lstat(file)).uid, 0)
    assert.equal((await lstat(outside)).uid, 0)
  })
})

describe('servers on one folder', () => {
  it('do not start with settings other than a running server’s; a command only needs the same locations', async (t) => {
    const first = await serverFor(t, { UPLOADS_PER_DAY: '7' })
    const { dataDir } = first
    const twin = await startServer({ UPLOADS_PER_DAY: '7' }, { dataDir })
    await twin.stop()
    for (const [name, here, agreed] of [
      ['UPLOADS_PER_DAY', '5', '7'],
      ['MAX_UPLOAD_BYTES', '5', '26214400'],
      ['DAILY_UPLOADS', '5', '0'],
      ['CDN_URL', 'varnish://10.0.0.1:80', 'none'],
    ] as const) {
      const env = { UPLOADS_PER_DAY: '7', [name]: here }
      const difference = `${name}: ${here} here, ${agreed} in the ledger`
      await assert.rejects(startServer(env, { dataDir }), ({ message }) => message.includes(difference))
      const ran = await operate(dataDir, ['status'], env)
      assert.equal(ran.code, name === 'CDN_URL' ? 1 : 0, ran.stderr)
      if (name === 'CDN_URL') assert.ok(ran.stderr.includes(difference), ran.stderr)
    }
    assert.equal((await first.operator(['status'])).code, 0, 'the running server is unaffected')
  })

  it('have one admin server, which moves to the other when the first stops', async (t) => {
    const first = await startServer()
    const { dataDir } = first
    const twin = await serverFor(t, {}, { dataDir })
    assert.match(twin.stderr(), /the admin server could not start, and tries again/)
    await first.end()
    await until('the admin server is the other’s', () =>
      atAdmin(dataDir, 'GET', '/metrics').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    await twin.end()
    await first.stop()
  })

  it('warn of images beside a new ledger', async (t) => {
    const server = await serverFor(t)
    await store(server.url)
    await server.restart()
    assert.doesNotMatch(server.stderr(), /the ledger is new/)
    await server.end()
    await rm(join(server.dataDir, 'ledger.sqlite'))
    await server.restart()
    assert.match(server.stderr(), /the ledger is new, but there are images/)
  })

  it('start with other settings once the last server is gone, even if it was killed', async (t) => {
    const server = await serverFor(t, { UPLOADS_PER_DAY: '7', WORKERS: '2' })
    await server.kill()
    await server.restart({ UPLOADS_PER_DAY: '5', WORKERS: '2' })
    const { headers } = await post(server.url, gif())
    assert.equal(headers.get('X-RateLimit-Limit'), '5')
    assert.equal((await server.operator(['status'])).code, 0)
  })
})

describe('servers on one ledger', () => {
  let postgres: PostgresServer
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.destroy())

  it('do not start with other settings until those are agreed', async (t) => {
    const token = 'a-token-that-no-ledger-may-hold'
    const CDN_URL = `cloudflare://zone?token=${token}`
    const env = { LEDGER_URL: await postgres.createSchema(), CDN_URL }
    const first = await serverFor(t, env)
    // Another token means the same cache.
    const twin = await startServer(
      { ...env, CDN_URL: 'cloudflare://zone?token=new' },
      { dataDir: first.dataDir },
    )
    await twin.stop()
    const other = { UPLOADS_PER_DAY: '5', CDN_URL: 'fastly://service?token=x' }
    await assert.rejects(startServer({ ...env, ...other }, { dataDir: first.dataDir }), (error) => {
      const { message } = error as Error
      assert.match(message, /CDN_URL: fastly:\/\/service here, cloudflare:\/\/zone in the ledger/)
      assert.match(message, /UPLOADS_PER_DAY: 5 here, 100 in the ledger/)
      assert.ok(!message.includes(token))
      return true
    })
    const agreed = await operate(first.dataDir, ['agree'], { ...env, ...other })
    assert.equal(agreed.code, 0, agreed.stderr)
    const third = await startServer({ ...env, ...other }, { dataDir: first.dataDir })
    await third.stop()
    assert.equal((await first.operator(['status'])).code, 1, 'the old settings are no longer valid')
  })

  it('are refused with another image folder', async (t) => {
    const env = { LEDGER_URL: await postgres.createSchema() }
    await serverFor(t, env)
    await assert.rejects(
      startServer(env),
      /OBJECTS_URL: file:\S+ here, file:\S+ in the ledger\n.*disk mounted\?/,
    )
  })

  it('report a missing ledger', async (t) => {
    const server = await serverFor(t)
    const ran = await operate(server.dataDir, ['status'], { LEDGER_URL: await postgres.createSchema() })
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, /there is no ledger in this database/)
  })
})
