/** Finds all uploads of one uploader, without storing addresses. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { createTagsOf } from '../src/service/quota/uploader-tags.ts'
import { NETWORK_TAG_LENGTH } from '../src/stores/uploader-tags.ts'
import { gif } from './support/images/tiny-images.ts'
import { serverFor, startServer } from './support/processes/server.ts'
import { fetchRaw, store } from './support/upload.ts'

const MINE = '192.0.2.77'
const OTHER = '192.0.2.78'
const MINE_6 = '2001:db8:77:1234:aaaa:bbbb:cccc:dddd'

const server = await startServer({ LOG_LEVEL: 'trace', DAILY_UPLOADS: '1000', NETWORK_UPLOADS: '1000' })
after(() => server.stop())

it('holds and removes all uploads of one uploader', async () => {
  const mine = [await store(server.url, gif(), MINE), await store(server.url, gif(), MINE)]
  const other = await store(server.url, gif(), OTHER)
  const six = [
    await store(server.url, gif(), MINE_6),
    await store(server.url, gif(), '2001:db8:77:1234::1%br-lan'),
    await store(server.url, gif(), '2001:db8:77:1235::1'),
  ]
  const status = async (image: { id: string }) => (await fetchRaw(server.url, image.id)).status
  const held = await server.operator(['hold', mine[0]!.id, '--reason', 'bots', '--same-uploader'])
  assert.equal(held.code, 0, held.stderr)
  assert.deepEqual(await Promise.all([...mine, other].map(status)), [403, 403, 200])
  const removed = await server.operator(['remove', six[0]!.id, '--reason', 'bots', '--same-uploader'])
  assert.equal(removed.code, 0, removed.stderr)
  assert.deepEqual(await Promise.all(six.map(status)), [410, 410, 200], 'a /64 is one uploader')
})

it('holds all uploads from one network', async () => {
  const flood = await Promise.all([5, 6, 7].map((host) => store(server.url, gif(), `198.51.100.${host}`)))
  const ipv6 = await Promise.all(
    ['1::1', 'ff02::1'].map((end) => store(server.url, gif(), `2001:db8:88:${end}`)),
  )
  const others = [
    await store(server.url, gif(), '198.51.101.5'),
    await store(server.url, gif(), '2001:db8:89:1::1'),
  ]
  const statuses = (images: { id: string }[]) =>
    Promise.all(images.map(async ({ id }) => (await fetchRaw(server.url, id)).status))
  for (const [first] of [flood, ipv6]) {
    const held = await server.operator(['hold', first!.id, '--reason', 'bots', '--same-network'])
    assert.equal(held.code, 0, held.stderr)
  }
  const again = await server.operator(['hold', flood[1]!.id, '--reason', 'bots', '--same-network'])
  assert.equal(again.code, 0, again.stdout)
  const lines = again.stdout.trim().split('\n').sort()
  assert.deepEqual(lines, flood.map(({ id }) => `${id} is already held`).sort())
  assert.deepEqual(await statuses([...flood, ...ipv6]), [403, 403, 403, 403, 403])
  assert.deepEqual(await statuses(others), [200, 200])
})

it('keeps no address in any file', async () => {
  await store(server.url, gif(), MINE)
  const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))),
  )
  assert.ok(texts.length >= 3, 'the ledger and images are checked')
  const traces = [MINE, OTHER, MINE_6].flatMap((address) => [
    Buffer.from(address),
    ...(address.includes(':') ? [Buffer.from('2001:db8:77'), Buffer.from('32.1.13.184')] : []),
    ...(address.includes(':') ? [] : [Buffer.from(address.split('.').map(Number))]),
    // Without a salt, all addresses could be tried.
    Buffer.from(createHmac('sha256', '').update(address).digest('hex').slice(0, 32)),
    Buffer.from(createHmac('sha256', '').update(address).digest('hex').slice(0, 16)),
  ])
  for (const text of [...texts, Buffer.from(server.stdout() + server.stderr())]) {
    for (const trace of traces.filter(({ length }) => length > 4))
      assert.ok(!text.includes(trace), `${trace}`)
  }
})

it('does not link uploads with UPLOADER_LINKS=off', async (t) => {
  const off = await serverFor(t, { UPLOADER_LINKS: 'off' })
  const mine = [await store(off.url, gif(), MINE), await store(off.url, gif(), MINE)]
  await off.operator(['remove', mine[0]!.id, '--reason', 'bots', '--same-uploader'])
  assert.equal((await fetchRaw(off.url, mine[1]!.id)).status, 200)
  const terms = async ({ url }: { url: string }) => (await fetch(`${url}/terms`)).text()
  assert.match(await terms(server), /find other uploads/)
  assert.doesNotMatch(await terms(off), /find other uploads|\{links\}/)
})

const clientOf = (address: string) => ({ address, network: address.replace(/\.\d+$/, '') })

it('gives two uploads a common tag within 24 hours, and none after 48', async () => {
  const hour = 3_600_000
  const salts = new Map<string, Uint8Array>()
  const tagsOf = createTagsOf({
    ledger: {
      daySalt: async (day, purpose) => {
        const key = `${day} ${purpose}`
        if (!salts.has(key)) salts.set(key, crypto.getRandomValues(new Uint8Array(32)))
        return salts.get(key)!
      },
    },
    hashes: nodeHashes,
  })
  const start = Date.parse('2026-07-31T00:00:00Z')
  const tags = []
  for (let at = 0; at <= 96; at++) tags.push(await tagsOf('22222222222', clientOf(MINE), start + at * hour))
  for (let a = 0; a < tags.length; a++) {
    for (let b = a; b < tags.length; b++) {
      const isLinked: boolean = tags[a]!.tagA === tags[b]!.tagA || tags[a]!.tagB === tags[b]!.tagB
      if (b - a <= 24) assert.ok(isLinked, `${a} and ${b}`)
      if (b - a >= 48) assert.ok(!isLinked, `${a} and ${b}`)
    }
  }
  const [mine, other, far] = await Promise.all(
    [MINE, OTHER, '198.51.100.77'].map((address) => tagsOf('22222222222', clientOf(address), start)),
  )
  assert.notEqual(mine!.tagA, other!.tagA)
  assert.notEqual(mine!.tagA, mine!.tagB)
  const networkOf = (tag: string) => tag.slice(0, NETWORK_TAG_LENGTH)
  assert.equal(networkOf(mine!.tagA), networkOf(other!.tagA))
  assert.notEqual(networkOf(mine!.tagA), networkOf(far!.tagA))
  assert.notEqual(networkOf(mine!.tagA), networkOf(mine!.tagB), 'each half has its own salt')
})

it('relates any number of images', async () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `${index}`)
  const ledger = { sameNetwork: async (_id: string, limit: number) => ids.slice(0, limit) }
  const takedown = createTakedown({ ledger } as unknown as Parameters<typeof createTakedown>[0])
  assert.deepEqual(await takedown.sameNetwork('x'), ids)
})
