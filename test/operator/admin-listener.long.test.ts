/** The admin server on TCP: whose names it answers to, and cookies under https. */
import assert from 'node:assert/strict'
import { request as plainRequest } from 'node:http'
import { test } from 'node:test'
import { atAdmin } from '../support/at-admin.ts'
import { request } from '../support/http.ts'
import { freePort } from '../support/processes/caches.ts'
import { serverFor } from '../support/processes/server.ts'

function statusFor(port: number, host: string, path = '/login'): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = plainRequest(
      { host: '127.0.0.1', port, path, headers: { Host: host }, agent: false },
      (incoming) => {
        incoming.resume()
        incoming.on('end', () => resolve(incoming.statusCode!))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}

test('on TCP it answers to its own names alone, and never on the public port', async (t) => {
  const port = await freePort()
  const server = await serverFor(t, {
    OPERATOR_LISTEN: `127.0.0.1:${port}`,
    OPERATOR_URL: 'https://ops.pinhole.example',
    WORKERS: '2',
  })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'ops.pinhole.example', `[::1]:${port}`]) {
    assert.equal(await statusFor(port, host), 200, host)
  }
  // A name of somebody else's that was made to point here: DNS rebinding.
  for (const host of ['evil.example', `evil.example:${port}`, 'ops.pinhole.example.evil.example']) {
    for (const path of ['/login', '/metrics', '/queue']) {
      assert.equal(await statusFor(port, host, path), 421, `${host}${path}`)
    }
  }
  assert.equal((await request(server.url, 'GET', '/queue')).status, 404)
  await assert.rejects(atAdmin(server.dataDir, 'GET', '/login'), 'there is no socket')
})

test('under https the cookie is Secure, from log-in to log-out', async (t) => {
  const port = await freePort()
  const server = await serverFor(t, {
    OPERATOR_LISTEN: `127.0.0.1:${port}`,
    OPERATOR_URL: 'https://ops.pinhole.example',
  })
  const place = { url: `http://127.0.0.1:${port}` }
  const { stdout } = await server.operator(['login'])
  const link = new URL(stdout.trim())
  assert.equal(link.origin, 'https://ops.pinhole.example')
  const form = { token: link.searchParams.get('token')! }
  const entered = await atAdmin(place, 'POST', '/login', { form })
  const set = entered.headers.get('Set-Cookie')!
  for (const part of ['Secure', 'HttpOnly', 'SameSite=Strict']) assert.ok(set.includes(part), set)
  const headers = { Cookie: set.split(';')[0]! }
  const { text } = await atAdmin(place, 'GET', '/', { headers })
  const formToken = /name="form-token" value="([0-9a-f]{64})"/.exec(text)![1]!
  const left = await atAdmin(place, 'POST', '/logout', { headers, form: { 'form-token': formToken } })
  assert.match(left.headers.get('Set-Cookie')!, /Secure; Max-Age=0$/)
  assert.equal((await atAdmin(place, 'GET', '/', { headers })).status, 401)
})
