/** Commands that read all images: verify, list, find, and remove with conditions. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { fakeIds } from '../support/ids.ts'
import { filledPreviewed, framed } from '../support/images/previewed.ts'
import { gif } from '../support/images/tiny-images.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { s3Env } from '../support/processes/cluster.ts'
import { startFakeProvider } from '../support/processes/fake-provider.ts'
import { environmentOf, jsonLines, NODE, ROOT } from '../support/processes/process.ts'
import { type RunningServer, serverEnv, serverFor, startServer } from '../support/processes/server.ts'
import { startFakeS3 } from '../support/s3/fake-s3.ts'
import { sha256Of } from '../support/sha256.ts'
import { flipBit } from '../support/store-folder.ts'
import { until } from '../support/until.ts'
import { fetchRaw, remove, type Stored, store } from '../support/upload.ts'

async function linesOf(server: RunningServer, args: string[], code = 0): Promise<Record<string, unknown>[]> {
  const ran = await server.operator([...args, '--json'])
  assert.equal(ran.code, code, ran.stdout + ran.stderr)
  return jsonLines(ran.stdout)
}

describe('operator verify, on a folder', () => {
  let server: RunningServer
  const images: Stored[] = []
  before(async () => {
    server = await startServer()
    for (let index = 0; index < 8; index++)
      images.push(await store(server.url, gif({ size: index % 2 ? 900_000 : 500 })))
  })
  after(() => server.stop())

  it('finds nothing if everything is intact', async () => {
    const [summary, ...others] = await linesOf(server, ['verify'])
    assert.deepEqual(others, [])
    assert.deepEqual([summary!.kind, summary!.images, summary!.found], ['summary', 8, 0])
    const stray = join(server.dataDir, 'images', 'objects', 'one.txt')
    await writeFile(stray, 'mine')
    assert.match((await server.operator(['verify'])).stdout, /: 1 finding\n$/)
    await rm(stray)
  })

  it('finds damaged images, stray files, stale drafts and images that should be gone, and repairs them', async () => {
    const folder = join(server.dataDir, 'images')
    const objects = join(folder, 'objects')
    const [flipped, cut, deleted, removed, swapped] = images as [Stored, Stored, Stored, Stored, Stored]
    await cp(objects, join(server.dataDir, 'copy'), { recursive: true })
    assert.equal((await remove(server.url, deleted.key)).status, 200)
    await server.operator(['remove', removed.id, '--reason', 'terms'])
    for (const { id } of [deleted, removed]) await cp(join(server.dataDir, 'copy', id), join(objects, id))
    await flipBit(join(objects, flipped.id), 100)
    await writeFile(join(objects, cut.id), (await readFile(join(objects, cut.id))).subarray(0, 1000))
    // Intact bytes under another image's name.
    await cp(join(objects, images[5]!.id), join(objects, swapped.id))
    await writeFile(join(objects, 'notes.txt'), 'mine')
    await mkdir(join(folder, 'lost+found'))
    const draft = join(folder, 'incoming', '1-1')
    await writeFile(draft, 'half an image')
    const old = new Date(Date.now() - 7_200_000)
    await utimes(draft, old, old)
    await writeFile(join(folder, 'incoming', '1-2'), 'may be in progress')

    const found = await linesOf(server, ['verify'], 1)
    const reported = found.slice(0, -1).map((line) => `${line.kind} ${line.id ?? line.path}`)
    assert.deepEqual(
      reported.sort(),
      [
        ...[flipped, cut, swapped].map(({ id }) => `damaged ${id}`),
        ...[deleted, removed].map(({ id }) => `removed ${id}`),
        'draft incoming/1-1',
        'stray lost+found',
        'stray objects/notes.txt',
      ].sort(),
    )
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 200, 'nothing changed')

    const repaired = await linesOf(server, ['verify', '--repair'])
    assert.equal(repaired.length, found.length)
    for (const { id } of [flipped, cut]) assert.equal((await fetchRaw(server.url, id)).status, 403)
    await until('it is gone', async () => (await fetchRaw(server.url, swapped.id)).status === 404)
    assert.equal((await fetchRaw(server.url, deleted.id)).status, 404)
    assert.equal((await fetchRaw(server.url, removed.id)).status, 410)
    for (const { id, bytes } of images.slice(5))
      assert.deepEqual((await fetchRaw(server.url, id)).body, bytes)
    const strays = await readdir(join(folder, 'strays'))
    assert.equal(strays.length, 3, 'nothing is discarded')
    const held = [flipped, cut].map(({ id }) => id).sort()
    for (const [args, code] of [
      [['verify'], 1],
      [['verify', '--repair'], 0],
    ] as const) {
      const again = (await linesOf(server, [...args], code)).slice(0, -1)
      assert.deepEqual(again.map(({ kind, id }) => `${kind} ${id}`).sort(), [
        ...held.map((id) => `damaged ${id}`),
      ])
    }
    await server.operator(['remove', ...held, '--reason', 'damaged'])
    const [summary, ...others] = await linesOf(server, ['verify'])
    assert.deepEqual([summary!.found, others], [0, []])
  })

  it('is required after data was copied by hand', async () => {
    await writeFile(join(server.dataDir, 'restoring'), '')
    const { dataDir } = server
    await assert.rejects(startServer({}, { dataDir }), /verify --repair/)
    assert.equal((await server.operator(['verify', '--repair'])).code, 0)
    await (await startServer({}, { dataDir })).end()
  })
})

it('operator verify --repair purges what a restored bucket brought back', async (t) => {
  const provider = await startFakeProvider()
  t.after(() => provider.stop())
  provider.answer({ status: 200, reason: 'Banned' })
  const fake = await startFakeS3()
  const server = await serverFor(t, {
    ...s3Env(fake, 'images/'),
    CDN_URL: `varnish://${provider.host}?fill=0`,
  })
  t.after(() => fake.close())
  const { id, key } = await store(server.url)
  const before = new Map(fake.objects)
  assert.equal((await remove(server.url, key)).status, 200)
  const purges = () => provider.asked.filter(({ headers }) => String(headers['x-ban-tags']).includes(id))
  await until('the deletion is purged', async () => {
    return (await server.operator(['status'])).stdout.includes('purges pending 0')
  })
  const name = [...before.keys()].find((name) => name.endsWith(id))!
  fake.objects.set(name, before.get(name)!)
  assert.equal((await fetchRaw(server.url, id)).status, 200, 'a cache may fetch it')
  const count = purges().length
  const [finding] = await linesOf(server, ['verify', '--repair'])
  assert.deepEqual(finding, { kind: 'removed', id, done: 'removed' })
  assert.equal((await fetchRaw(server.url, id)).status, 404)
  await until('it is purged again', () => purges().length > count)
})

it('operator verify reads every object in S3', async (t) => {
  const fake = await startFakeS3()
  const server = await serverFor(t, s3Env(fake, 'images/'))
  t.after(() => fake.close())
  const [sound, damaged] = [await store(server.url), await store(server.url)]
  const object = [...fake.objects].find(([name]) => name.endsWith(damaged.id))![1]
  object.bytes = Buffer.from(object.bytes!)
  object.bytes[9]! ^= 1
  const [finding, summary] = await linesOf(server, ['verify'], 1)
  assert.deepEqual(finding, { kind: 'damaged', id: damaged.id })
  assert.equal(summary!.images, 2)
  await server.operator(['hold', damaged.id, '--reason', 'damaged'])
  const [held] = await linesOf(server, ['verify'], 1)
  assert.deepEqual(held, { kind: 'damaged', id: damaged.id, isHeld: true })
  assert.deepEqual((await fetchRaw(server.url, sound.id)).body, sound.bytes)
})

describe('operator list, find and remove', () => {
  let server: RunningServer
  before(async () => {
    server = await startServer({ UPLOADS_PER_DAY: '1000' })
  })
  after(() => server.stop())

  it('finds images by time, type, size and digest', async () => {
    const early = await store(server.url, gif({ size: 400 }))
    const between = new Date()
    await until('a moment has passed', () => Date.now() > between.getTime())
    const later = await store(server.url, gif({ size: 5000 }))
    const ids = async (...args: string[]) => (await linesOf(server, ['find', ...args])).map(({ id }) => id)
    const both = [early.id, later.id].sort()
    assert.deepEqual(await ids(), both)
    assert.deepEqual(await ids('--since', between.toISOString()), [later.id])
    assert.deepEqual(await ids('--until', between.toISOString()), [early.id])
    assert.deepEqual(await ids('--max-size', '400'), [early.id])
    assert.deepEqual(await ids('--min-size', '401', '--type', 'gif'), [later.id])
    assert.deepEqual(await ids('--type', 'avif'), [])
    assert.deepEqual(await ids('--sha256', sha256Of(later.bytes).toUpperCase()), [later.id])
    assert.deepEqual((await server.operator(['list'])).stdout, `${both.join('\n')}\n`)
    assert.equal((await server.operator(['list', '--count'])).stdout, '2\n')
    assert.doesNotMatch((await server.operator(['list', '--json'])).stdout, /key/)
    // `Date` would parse some of these: as dates long ago, or in the local time zone.
    for (const time of [
      'yesterday',
      'last 60',
      '1',
      '2026',
      '07/31/2026',
      '2026-07-31T12:00:00',
      '2026-13-01',
    ]) {
      assert.equal((await server.operator(['list', '--since', time])).code, 2, time)
    }
    for (const time of ['2026-07-31', '2026-07-31T12:00Z', '2026-07-31T12:00:00+02:00']) {
      assert.equal((await server.operator(['list', '--since', time])).code, 0, time)
    }
  })

  it('removes by conditions, and with --doubles also identical images', async () => {
    const bytes = gif()
    const [one, two, other] = [
      await store(server.url, bytes),
      await store(server.url, bytes),
      await store(server.url),
    ]
    const reason = ['--reason', 'terms']
    assert.equal((await server.operator(['remove', ...reason])).code, 2, 'refuses to remove all images')
    assert.equal((await server.operator(['remove', '--sha256', sha256Of(Buffer.of()), ...reason])).code, 1)
    assert.equal((await server.operator(['remove', one.id, '--doubles', ...reason])).code, 0)
    for (const { id } of [one, two]) assert.equal((await fetchRaw(server.url, id)).status, 410)
    assert.equal((await fetchRaw(server.url, other.id)).status, 200)
    const digest = sha256Of(other.bytes)
    assert.equal((await server.operator(['remove', '--sha256', digest, ...reason])).code, 0)
    assert.equal((await fetchRaw(server.url, other.id)).status, 410)
  })

  it('marks held images, removes them by conditions too, and releases them by conditions', async () => {
    const bytes = gif()
    const [held, other] = [await store(server.url, bytes), await store(server.url, bytes)]
    const reason = ['--reason', 'terms']
    const digest = ['--sha256', sha256Of(bytes)]
    const count = async (...words: string[]) =>
      Number((await server.operator(['list', '--count', ...words])).stdout)
    const all = await count()
    assert.equal((await server.operator(['hold', held.id, ...reason])).code, 0)
    assert.deepEqual([await count(), await count(...digest)], [all, 2])
    assert.ok((await server.operator(['list'])).stdout.split('\n').includes(`${held.id} held`))
    const found = await linesOf(server, ['find', ...digest])
    assert.deepEqual(
      found.map((each) => [each.id, each.held]),
      [
        [other.id, undefined],
        [held.id, true],
      ],
    )
    const released = await server.operator(['release', ...digest, ...reason])
    assert.deepEqual([released.code, released.stdout], [0, `released ${held.id}\n`])
    assert.equal((await fetchRaw(server.url, held.id)).status, 200)
    assert.equal((await server.operator(['hold', held.id, ...reason])).code, 0)
    assert.equal((await server.operator(['remove', ...digest, ...reason])).code, 0)
    for (const { id } of [held, other]) assert.equal((await fetchRaw(server.url, id)).status, 410)
  })

  it('treats images with the same preview as doubles', async () => {
    const [first, second, third] = [filledPreviewed(500), filledPreviewed(500), filledPreviewed(500)]
    const one = await store(server.url, first.file)
    const two = await store(server.url, framed(second.image, first.preview))
    const other = await store(server.url, third.file)
    const found = await server.operator(['list', '--sha256', sha256Of(first.preview)])
    const ids = found.stdout.split('\n').flatMap((line) => line.split(' ', 1).filter(Boolean))
    assert.deepEqual(ids.toSorted(), [one.id, two.id].toSorted())
    assert.equal((await server.operator(['remove', one.id, '--doubles', '--reason', 'terms'])).code, 0)
    for (const { id } of [one, two]) assert.equal((await fetchRaw(server.url, id)).status, 410)
    assert.equal((await fetchRaw(server.url, other.id)).status, 200)
    assert.equal((await server.operator(['remove', other.id, '--reason', 'terms'])).code, 0)
  })

  it('counts many images', async () => {
    const objects = join(server.dataDir, 'images', 'objects')
    const before = Number((await server.operator(['list', '--count'])).stdout)
    const ids = fakeIds(2000)
    for (const id of ids) await writeFile(join(objects, id), '')
    assert.equal(Number((await server.operator(['list', '--count'])).stdout), before + 2000)
    for (const id of ids) await rm(join(objects, id))
  })
})

it('leaves no remains of its progress line on a terminal', {
  skip: await skipWithout('script'),
}, async (t) => {
  const server = await serverFor(t)
  for (let index = 0; index < 2; index++) await store(server.url, gif({ size: 600 }))
  const args = `${NODE} src/node/operator.ts verify --rate 0.001`
  // `script` of util-linux gives the command a terminal.
  const options = { cwd: ROOT, env: environmentOf(serverEnv({}, server.dataDir)) }
  const { stdout } = await promisify(execFile)('script', ['-qefc', args, '/dev/null'], options)
  const pieces = stdout.split('\x1b[K')
  assert.ok(pieces.length > 1, stdout)
  assert.match(pieces.at(-1)!, /^2 images, \d+ kB, in [\d.]+ s: all is well\r\n$/)
})
