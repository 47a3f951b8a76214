/** Log lines for the operator: one per event, with enough to find an image, and nothing about visitors. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { folderOf } from './support/folder.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { killGroup, launch, NODE } from './support/processes/process.ts'
import { isReady, type RunningServer, serverEnv, serverFor } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { post, remove, store } from './support/upload.ts'

const FROM = '198.51.100.77'

type Line = Record<string, unknown>

function linesOf(server: RunningServer, message: string): Line[] {
  const lines = server
    .stderr()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message)
}

/** The log line caused by `action`. */
async function lineAfter(
  server: RunningServer,
  message: string,
  action: () => Promise<unknown>,
): Promise<Line> {
  const before = linesOf(server, message).length
  await action()
  await until(`a line "${message}"`, () => linesOf(server, message).length > before)
  const lines = linesOf(server, message)
  assert.equal(lines.length, before + 1, 'one line per event')
  return lines.at(-1)!
}

test('logs uploads and deletions with ID, outcome, bytes and duration, but no address, key or query', async (t) => {
  const server = await serverFor(t, { LOG_LEVEL: 'info' })
  const image = gif({ size: 5000 })
  let id = ''
  let key = ''
  const stored = await lineAfter(server, 'upload', async () => {
    ;({ id, key } = await store(server.url, image, FROM))
  })
  assert.deepEqual([stored.outcome, stored.id, stored.type, stored.bytes], ['stored', id, 'image/gif', 5000])
  const refused = await lineAfter(server, 'upload', () => post(server.url, Buffer.from('no image'), FROM))
  assert.deepEqual([refused.outcome, refused.id], ['unsupported-type', undefined])
  const unknown = await lineAfter(server, 'deletion', () => remove(server.url, `${id}${'x'.repeat(32)}`))
  assert.deepEqual([unknown.outcome, unknown.id], ['unknown-key', undefined])
  const deleted = await lineAfter(server, 'deletion', () => remove(server.url, key))
  assert.deepEqual([deleted.outcome, deleted.id], ['deleted', id])
  for (const line of [stored, refused, unknown, deleted]) {
    assert.ok(Number.isInteger(line.ms) && (line.ms as number) >= 0)
    assert.equal(typeof line.requestId, 'string')
  }
  await request(server.url, 'GET', '/a/page?secret=query', { headers: { 'X-Forwarded-For': FROM } })
  await server.end()
  const log = server.stdout() + server.stderr()
  for (const secret of [FROM, key.slice(id.length), 'secret=query', '127.0.0.1"', 'x'.repeat(32)]) {
    assert.ok(!log.includes(secret), secret)
  }
})

test('a full disk under output and log stops neither the start nor the server', {
  skip: existsSync('/dev/full') ? false : '/dev/full is not on this machine',
}, async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = ['-c', `exec ${NODE} bin/serve.mjs >/dev/full 2>/dev/full`]
  const env = serverEnv({ PORT: `${port}`, LOG_LEVEL: 'info' }, await folderOf(t))
  const { child, pid, ended } = launch(args, env, 'sh')
  t.after(() => killGroup(pid))
  await until('the server is ready', () => {
    assert.equal(child.exitCode, null)
    return isReady(url)
  })
  for (let i = 0; i < 2; i++) await store(url, gif({ size: 100 + i }), FROM)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})
