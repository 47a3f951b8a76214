/** After all other cases, neither logs nor files contain private data of visitors. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IS_WHOLE } from '../../support/extent.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { until } from '../../support/until.ts'
import { type Host, needsFiles, visitsTo, type World } from './host.ts'

const END_BYTES = 256 * 1024

export function privacyCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const withFiles = visitsTo(world, world.main, needsFiles)

  onMain('logs no keys, addresses, query strings or file names', async (me, t) => {
    if (!me.host.logs) return t.skip("does not apply: this host's logs cannot be read")
    const { id, key } = await me.store()
    await me.get(`/${id}?marker-of-a-query=1`)
    await me.get(`/raw/${id}?marker-of-a-query=1`)
    await me.get(`/api/delete?key=${key}`)
    await me.request('POST', `/api/delete?key=${key}`)
    await me.get(`/api/delete?key=${key}&marker-of-a-query=%`)
    await me.remove(key)
    await me.remove(key)
    const logs = me.host.logs()
    assert.notEqual(logs, '', 'LOG_LEVEL=trace produces logs')
    assert.ok(world.addresses.size > 50 && world.keys.size > 50, 'the other cases ran')
    for (const secret of world.keys) {
      assert.ok(!logs.includes(secret), 'a key')
      assert.ok(!logs.includes(secret.slice(11)), 'the secret half of a key')
    }
    for (const address of world.addresses) assert.ok(!logs.includes(address), address)
    assert.doesNotMatch(logs, /marker-of-a-query|[?&](key|dl|x)=|harmless-|\.html"|forwarded/i)
  })

  onMain('logs JSON lines with the request ID', async (me, t) => {
    const { logs } = me.host
    if (!logs) return t.skip("does not apply: this host's logs cannot be read")
    const answer = await me.upload(gif())
    assert.equal(answer.status, 201)
    const requestId = answer.headers.get('X-Request-Id')!
    // The response may arrive before the log line, and the line may be incomplete at first.
    await until('the line is logged', () => logs().includes(`${requestId}"`))
    const lines = logs()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
    assert.ok(lines.length > 100)
    const entries = lines.map((line) => JSON.parse(line))
    assert.ok(
      entries.some((entry) => Object.values(entry).includes(requestId)),
      `a line with ${requestId}`,
    )
  })

  withFiles('stores no keys, addresses or file names in its files', async (me) => {
    const secrets = new Set([...world.keys].map((key) => key.slice(11)))
    for await (const [path, bytes] of filesOf(me.host)) {
      const text = bytes.toString('latin1')
      for (const [run] of text.matchAll(/[0-9A-Za-z]{32,}/g)) {
        for (let at = 0; at + 32 <= run.length; at++) {
          assert.ok(!secrets.has(run.slice(at, at + 32)), `a key in ${path}`)
        }
      }
      for (const [run] of text.matchAll(/\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:]+/gi)) {
        assert.ok(!world.addresses.has(run), `an address in ${path}`)
      }
      assert.ok(!text.includes('harmless-'), `a file name in ${path}`)
    }
  })

  withFiles('keeps no data of deleted, refused or aborted uploads', async (me) => {
    const comment = 'mark of an image that must not stay;'
    const size = 900_000
    const { key } = await me.store(gif({ comment, size }))
    assert.equal((await me.remove(key)).status, 200)
    assert.equal((await me.upload(gif({ comment, size }).subarray(0, -1))).status, 422)
    assert.equal((await me.upload(Buffer.from(comment.repeat(20_000)))).status, 415)
    for await (const [path, bytes] of filesOf(me.host)) {
      assert.ok(!bytes.includes(comment), path)
    }
  })
}

async function* filesOf(host: Host): AsyncGenerator<[path: string, bytes: Buffer]> {
  const entries = await readdir(host.dataDir!, { recursive: true, withFileTypes: true })
  assert.ok(entries.length > 0)
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    // Other cases run concurrently, so drafts may disappear.
    const bytes = await readFile(path).catch(() => null)
    if (bytes) yield [path, ends(bytes)]
  }
}

/** The whole file in full runs; otherwise only both ends of a large file, where records and metadata are. */
function ends(bytes: Buffer): Buffer {
  if (IS_WHOLE || bytes.length <= 2 * END_BYTES) return bytes
  return Buffer.concat([bytes.subarray(0, END_BYTES), bytes.subarray(-END_BYTES)])
}
