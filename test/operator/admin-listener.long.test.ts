/** The admin server on TCP: accepted host names, and cookies under https. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atAdmin } from '../support/at-admin.ts'
import { request } from '../support/http.ts'
import { freePort } from '../support/processes/caches.ts'
import { serverFor } from '../support/processes/server.ts'

async function statusFor(port: number, host: string, path = '/login'): Promise<number> {
  return (await request(`http://127.0.0.1:${port}`, 'GET', path, { headers: { Host: host } })).status
}

test('on TCP answers only to its own host names, and never on the public port', async (t) => {
  const port = await freePort()
  const server = await serverFor(t, {
    OPERATOR_LISTEN: `127.0.0.1:${port}`,
    OPERATOR_URL: 'https://ops.pinhole.example',
    WORKERS: '2',
  })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'ops.pinhole.example', `[::1]:${port}`]) {
    assert.equal(await statusFor(port, host), 200, host)
  }
  // A foreign name that resolves to this machine: DNS rebinding.
  for (const host of ['evil.example', `evil.example:${port}`, 'ops.pinhole.example.evil.example']) {
    for (const path of ['/login', '/metrics', '/queue']) {
      assert.equal(await statusFor(port, host, path), 421, `${host}${path}`)
    }
  }
  assert.equal((await request(server.url, 'GET', '/queue')).status, 404)
  await assert.rejects(atAdmin(server.dataDir, 'GET', '/login'), 'no socket exists')
})

test('under https the cookie is Secure, from login to logout', async (t) => {
  const port = await freePort()
  const server = await serverFor(t, {
    OPERATOR_LISTEN: `127.0.0.1:${port}`,
    OPERATOR_URL: 'https://ops.pinhole.example',
  })
  const admin = { url: `http://127.0.0.1:${port}` }
  const { stdout } = await server.operator(['login'])
  const link = new URL(stdout.trim())
  assert.equal(link.origin, 'https://ops.pinhole.example')
  const form = { token: link.searchParams.get('token')! }
  const loggedIn = await atAdmin(admin, 'POST', '/login', { form })
  const cookie = loggedIn.headers.get('Set-Cookie')!
  for (const part of ['Secure', 'HttpOnly', 'SameSite=Strict']) assert.ok(cookie.includes(part), cookie)
  const headers = { Cookie: cookie.split(';')[0]! }
  const { text } = await atAdmin(admin, 'GET', '/', { headers })
  const formToken = /name="form-token" value="([0-9a-f]{64})"/.exec(text)![1]!
  const loggedOut = await atAdmin(admin, 'POST', '/logout', { headers, form: { 'form-token': formToken } })
  assert.match(loggedOut.headers.get('Set-Cookie')!, /Secure; Max-Age=0$/)
  assert.equal((await atAdmin(admin, 'GET', '/', { headers })).status, 401)
})
