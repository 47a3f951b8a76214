/** The attacks cover every route, and each attack hits its intended route. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { UPLOAD_METHODS } from '../src/http/routes/upload.ts'
import { EVERY_ROUTE, publicRoutes } from './support/attack/routes.ts'
import { NOTHING_STORED, type Stored, targetsFor } from './support/attack/targets.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { startLocalServer } from './support/processes/local-server.ts'
import { store } from './support/upload.ts'

it('covers all upload routes, all routes of the framework, and those of the operator', () => {
  const attacked = targetsFor(NOTHING_STORED).map(
    ({ method, path, isAtAdmin }) => `${method} ${path}${isAtAdmin ? ', operator' : ''}`,
  )
  for (const [path, methods] of Object.entries(UPLOAD_METHODS)) {
    for (const method of methods.split(', ')) assert.ok(attacked.includes(`${method} ${path}`))
  }
  for (const { method, path } of publicRoutes(NOTHING_STORED)) {
    assert.ok(attacked.includes(`${method} ${path}`))
  }
  for (const known of ['POST /report', 'POST /api/report', 'GET /openapi.json', 'GET /metrics, operator']) {
    assert.ok(attacked.includes(known), known)
  }
})

it('targets existing routes: only intended 404s, and no 5xx', async (t) => {
  const server = await startLocalServer(EVERY_ROUTE, {})
  t.after(() => server.stop())
  const home = await request(server.url, 'GET', '/')
  const stored: Stored = {
    baseUrl: server.url.replace('127.0.0.1', 'localhost'),
    smallId: (await store(server.url, gif())).id,
    largeId: (await store(server.url, gif({ size: 300_000 }))).id,
    assetPath: /\/assets\/[^"]+\.js/.exec(home.text)![0],
  }
  const answered = new Map<number, string[]>()
  for (const { method, path, isAtAdmin, takes, whole = '' } of targetsFor(stored)) {
    if (isAtAdmin || path.startsWith('http:') || takes === 'upload') continue
    const type = takes === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
    const sent = method === 'POST' ? { body: Buffer.from(whole), headers: { 'Content-Type': type } } : {}
    const { status } = await request(server.url, method, path, sent)
    answered.set(status, [
      ...(answered.get(status) ?? []),
      `${method} ${path.replace(stored.smallId, '<small>')}`,
    ])
  }
  const absent = [
    'GET /raw/AAAAAAAAAAA',
    'GET /preview/AAAAAAAAAAA',
    `GET /preview/${stored.largeId}.none`,
    `DELETE /api/delete?key=<small>${'A'.repeat(32)}`,
    `GET /raw/${stored.largeId}.none`,
    'POST /delete',
    `GET /receipt/${'a'.repeat(64)}`,
    'GET /metrics',
  ]
  // No contact is configured.
  absent.push('GET /.well-known/security.txt')
  assert.deepEqual(answered.get(404)?.toSorted(), absent.toSorted())
  for (const [status, routes] of answered) assert.ok(status < 500, `${status}: ${routes}`)
})
