/** Images removed for child abuse are sealed first, to a key whose private part no server has. */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createEvidence, readOpened } from '../src/service/moderation/evidence.ts'
import { createKeyPair, type KeyPair, open, sealerFor } from '../src/service/moderation/sealing.ts'
import { openFolderFiles } from '../src/stores/filesystem/files.ts'
import { adminSession } from './support/admin-session.ts'
import { folderOf } from './support/folder.ts'
import { previewed } from './support/images/previewed.ts'
import { gif } from './support/images/tiny-images.ts'
import { operate } from './support/processes/operator.ts'
import { run } from './support/processes/process.ts'
import { serverFor } from './support/processes/server.ts'
import { report } from './support/report.ts'
import { inChunks } from './support/stored-images.ts'
import { fetchRaw, remove, store } from './support/upload.ts'

const DAY_MS = 86_400_000
const REMOVE = ['--reason', 'a hotline', '--rule', 'child-abuse', '--block']

describe('a sealed box', () => {
  let keys: KeyPair
  before(async () => {
    keys = await createKeyPair()
  })

  it('opens to the original bytes, for any size and chunking', async () => {
    const seal = await sealerFor(keys.publicKey)
    const MB = 1024 * 1024
    for (const size of [0, 1, MB - 1, MB, MB + 1, 2 * MB, 2 * MB + 5]) {
      const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7) % 251)
      for (const chunk of [4096, 700_001, 3 * MB]) {
        const box = await seal(inChunks(bytes, chunk), size)
        assert.deepEqual(await open(box, keys.privateKey), bytes, `${size} bytes in chunks of ${chunk}`)
      }
    }
    await assert.rejects(seal(inChunks(new Uint8Array(9), 4), 10))
    await assert.rejects(seal(inChunks(new Uint8Array(9), 4), 8))
  })

  it('does not open with another key, or if a byte is changed or cut off', async () => {
    const seal = await sealerFor(keys.publicKey)
    const box = await seal(inChunks(new Uint8Array(1_100_000).fill(3), 65_536), 1_100_000)
    await assert.rejects(open(box, (await createKeyPair()).privateKey), /different key/)
    const [one, two] = [
      await seal(inChunks(new Uint8Array(9), 9), 9),
      await seal(inChunks(new Uint8Array(9), 9), 9),
    ]
    assert.notDeepEqual(one, two)
    await fc.assert(
      fc.asyncProperty(fc.nat(box.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const wrong = box.slice()
        wrong[at]! ^= change
        await assert.rejects(open(wrong, keys.privateKey))
        await assert.rejects(open(box.subarray(0, at), keys.privateKey))
      }),
      { numRuns: 20 },
    )
    // A whole chunk cut off.
    await assert.rejects(open(box.subarray(0, box.length - (1_100_000 - 1_048_576) - 16), keys.privateKey))
  })

  it('cannot be created for an invalid key', async () => {
    for (const wrong of [`04${'00'.repeat(64)}`, `04${'ff'.repeat(64)}`])
      await assert.rejects(sealerFor(wrong), /EVIDENCE_KEY/)
  })
})

it('seals an image before it is removed, opens it offline, and never serves it', async (t) => {
  const folder = await folderOf(t)
  const keyFile = join(folder, 'key.pem')
  const offline = (words: string[]) => run(['src/node/operator.ts', 'evidence', ...words], {})
  const made = await offline(['key', keyFile])
  const [, EVIDENCE_KEY = ''] =
    /^EVIDENCE_KEY=(04[0-9a-f]{128})$/m.exec(made.stdout) ?? assert.fail(made.stderr)
  assert.equal((await offline(['key', keyFile])).code, 1, 'an existing key is never replaced')

  const server = await serverFor(t, { EVIDENCE_KEY })
  const { file, image, preview } = await previewed()
  const [abuse, held, other] = [
    await store(server.url, file),
    await store(server.url),
    await store(server.url),
  ]
  await server.operator(['hold', held.id, '--reason', 'a report'])
  for (const { id } of [abuse, held]) {
    // Even without the server's variables.
    const done = await operate(['remove', id, ...REMOVE], { DATA_DIR: server.dataDir })
    assert.equal(done.code, 0, done.stderr)
  }
  await server.operator(['remove', other.id, '--reason', 'x', '--rule', 'copyright'])
  for (const { id } of [abuse, held, other]) assert.equal((await fetchRaw(server.url, id)).status, 410)

  const boxes = join(server.dataDir, 'evidence')
  const names = (await readdir(boxes)).sort()
  assert.deepEqual(names.map((name) => name.slice(11, 22)).sort(), [abuse.id, held.id].sort())
  assert.equal((await server.operator(['evidence', 'list'])).stdout.trim(), names.join('\n'))
  for (const name of names) {
    const box = await readFile(join(boxes, name))
    for (const secret of [image.subarray(100, 140), preview.subarray(100, 140)])
      assert.ok(!box.includes(secret))
    for (const path of [`/${name}`, `/evidence/${name}`, `/raw/${name}`, `/raw/${name.slice(11, 22)}`]) {
      const answer = await fetch(server.url + path)
      assert.ok([404, 410].includes(answer.status), `${path}: ${answer.status}`)
    }
  }
  assert.doesNotMatch((await server.operator(['list'])).stdout, new RegExp(abuse.id))
  const verified = await server.operator(['verify'])
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)

  const copies = join(folder, 'copies')
  assert.equal((await server.operator(['evidence', 'copy', copies])).code, 0)
  const damaged = join(copies, 'damaged')
  await writeFile(damaged, 'half a box')
  const opened = await offline([
    'open',
    keyFile,
    damaged,
    ...names.map((name) => join(copies, name)),
    '--to',
    join(folder, 'opened'),
  ])
  assert.equal(opened.code, 1)
  assert.ok(opened.stderr.startsWith(`${damaged}: `), opened.stderr)
  const read = (name: string) => readFile(join(folder, 'opened', name))
  assert.ok((await read(`${abuse.id}.jpeg`)).length > 0)
  assert.ok((await read(`${abuse.id}.preview.jpeg`)).length > 0)
  assert.ok((await read(`${held.id}.gif`)).equals(held.bytes))
  const facts = JSON.parse(String(await read(`${abuse.id}.json`)))
  assert.equal(facts.record.id, abuse.id)
  assert.deepEqual([facts.removed.reason, facts.removed.rule], ['a hotline', 'child-abuse'])
})

it('holds an image that could not be sealed, and removes it once it can be', async (t) => {
  const { publicKey } = await createKeyPair()
  const server = await serverFor(t, { EVIDENCE_KEY: publicKey })
  const { id } = await store(server.url, gif())
  const boxes = join(server.dataDir, 'evidence')
  await writeFile(boxes, 'in the way')
  const failed = await server.operator(['remove', id, ...REMOVE])
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /could not be sealed: the image is held/)
  assert.equal((await fetchRaw(server.url, id)).status, 403)
  await rm(boxes)
  assert.equal((await server.operator(['remove', id, ...REMOVE])).code, 0)
  assert.equal((await fetchRaw(server.url, id)).status, 410)
  assert.equal((await readdir(boxes)).length, 1)
})

it('seals an image that its uploader deletes while the removal can be undone, and no image whose removal is undone, unless it was removed before', async (t) => {
  const server = await serverFor(t, { EVIDENCE_KEY: (await createKeyPair()).publicKey })
  const session = await adminSession(server)
  const [deleted, undone, removed] = [
    await store(server.url),
    await store(server.url),
    await store(server.url),
  ]
  await report(server.url, removed.id)
  assert.equal((await server.operator(['remove', removed.id, ...REMOVE])).code, 0)
  for (const { id: image } of [deleted, undone, removed]) {
    const act = { image, act: 'remove', reason: 'a hotline', rule: 'child-abuse' }
    assert.equal((await session.post('/images', act)).status, 303)
  }
  assert.equal((await remove(server.url, deleted.key)).status, 200)
  const { text } = await session.get('/queue')
  for (const { id } of [undone, removed]) {
    const [, batch = ''] =
      new RegExp(`name="batch" value="([^"]+)">[^<]*<p [^>]*>[^<]*<code>${id}`).exec(text) ?? []
    assert.equal((await session.post('/undo', { batch })).status, 303)
  }
  assert.equal((await fetchRaw(server.url, undone.id)).status, 200)
  const names = await readdir(join(server.dataDir, 'evidence'))
  assert.deepEqual(names.map((name) => name.slice(11, 22)).sort(), [deleted.id, removed.id].sort())
})

it('is included in backups, restores and copies to another store', async (t) => {
  const folder = await folderOf(t)
  const server = await serverFor(t, { EVIDENCE_KEY: (await createKeyPair()).publicKey })
  const { id } = await store(server.url)
  await server.operator(['remove', id, '--reason', 'x', '--rule', 'child-abuse'])
  const backup = join(folder, 'backup')
  const boxes = join(server.dataDir, 'evidence')
  const names = await readdir(boxes)
  const made = await server.operator(['backup', backup])
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual(await readdir(join(backup, 'evidence')), names)
  await writeFile(join(backup, 'evidence', '2020-01-01-AAAAAAAAAAA.sealed'), 'over')
  assert.equal((await server.operator(['backup', backup])).code, 0)
  assert.deepEqual(await readdir(join(backup, 'evidence')), names, 'expired evidence is removed')
  const target = await folderOf(t)
  const copied = await server.operator(['copy', '--from', server.dataDir, '--to', target])
  assert.equal(copied.code, 0, copied.stderr)
  assert.deepEqual(await readdir(join(target, 'evidence')), names)
  await server.end()
  await rm(server.dataDir, { recursive: true })
  const restored = await server.operator(['restore', backup])
  assert.equal(restored.code, 0, restored.stderr)
  assert.deepEqual(await readdir(boxes), names)
})

it('is sealed again by a restore, if it was lost with the machine', async (t) => {
  const folder = await folderOf(t)
  const TOMBSTONES_URL = `file:${join(folder, 'second')}`
  const { publicKey, privateKey } = await createKeyPair()
  const server = await serverFor(t, { EVIDENCE_KEY: publicKey, TOMBSTONES_URL })
  const [abuse, other] = [await store(server.url), await store(server.url)]
  const backup = join(folder, 'backup')
  assert.equal((await server.operator(['backup', backup])).code, 0)
  await server.operator(['remove', abuse.id, ...REMOVE])
  await server.operator(['remove', other.id, '--reason', 'x'])
  await server.end()
  await rm(server.dataDir, { recursive: true })
  for (let attempt = 0; attempt < 2; attempt++) {
    const restored = await server.operator(['restore', backup])
    assert.equal(restored.code, 0, restored.stderr)
  }
  const boxes = join(server.dataDir, 'evidence')
  const [name = '', ...others] = await readdir(boxes)
  assert.deepEqual([name.slice(11, 22), others], [abuse.id, []])
  const { facts, bytes } = readOpened(await open(await readFile(join(boxes, name)), privateKey))
  assert.deepEqual([facts.record.id, Buffer.from(bytes)], [abuse.id, abuse.bytes])
})

it('is deleted after a year, but not by a clock that is not trusted', async (t) => {
  const folder = join(await folderOf(t), 'evidence')
  const files = openFolderFiles(folder)
  const { publicKey, privateKey } = await createKeyPair()
  const bytes = gif()
  const record = { id: 'AAAAAAAAAAA', size: bytes.length }
  let now = Date.UTC(2026, 0, 1)
  const evidence = createEvidence({
    seal: await sealerFor(publicKey),
    files,
    objects: { open: async () => ({ record, body: bytes }) } as never,
    ledger: { reportsOf: async () => [] },
    now: () => now,
  })
  await evidence.keep('AAAAAAAAAAA', { reason: 'x', by: { who: 'me' } })
  const [name] = await files.names()
  assert.equal(name, '2027-01-01-AAAAAAAAAAA.sealed')
  assert.deepEqual(Buffer.from(readOpened(await open((await files.read(name!))!, privateKey)).bytes), bytes)
  await writeFile(join(folder, 'unrelated'), '')
  now += 365 * DAY_MS
  for (const at of [now, Number.NEGATIVE_INFINITY, now - DAY_MS]) await evidence.forget(at)
  assert.equal((await files.names()).length, 2)
  await evidence.forget(now + DAY_MS)
  assert.deepEqual(await files.names(), ['unrelated'])
})
