/** The admin server: access control and actions. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { factsOf, holdMany } from '../src/http/operator/forms.ts'
import { overviewPage } from '../src/web/operator/overview.ts'
import { adminSession } from './support/admin-session.ts'
import { atAdmin } from './support/at-admin.ts'
import { childrenOf, openFiles } from './support/attack/process-costs.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { serverFor, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, store } from './support/upload.ts'

const TOKEN = 'a-token-of-programs-0123456789'

const server = await startServer({ OPERATOR_TOKEN: TOKEN, WORKERS: '2', LOG_LEVEL: 'trace' })
after(() => server.stop())

const admin = (method: string, path: string, options?: Parameters<typeof atAdmin>[3]) =>
  atAdmin(server.dataDir, method, path, options)

it('listens on a socket that only this account can open, and not on the public listener', async () => {
  const { mode } = await stat(join(server.dataDir, 'operator.sock'))
  assert.equal(mode & 0o777, 0o600)
  for (const path of ['/metrics', '/acts', '/login', '/queue', '/feed.xml']) {
    assert.equal((await request(server.url, 'GET', path)).status, 404)
  }
})

it('serves metrics without authentication, and nothing else without a session', async () => {
  const metrics = await admin('GET', '/metrics')
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /^pinhole_build_info\{/m)
  for (const path of ['/', '/acts', '/queue', '/cases/AAAAAAAAAAA', '/images/AAAAAAAAAAA/bytes']) {
    const answer = await admin('GET', path)
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    assert.match(answer.headers.get('Content-Security-Policy')!, /default-src 'none'/)
  }
  for (const path of ['/settings', '/images', '/logout', '/undo', '/cases/AAAAAAAAAAA']) {
    const refused = await admin('POST', path, { form: { name: 'uploads', value: 'paused' } })
    assert.equal(refused.status, 401)
    assert.match(refused.text, /<a href="\/">Already logged in/)
  }
})

it('refuses requests with more than 128 headers instead of dropping headers silently', async () => {
  const ask = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => [`X-${index}`, 'x'])
    return (await admin('GET', '/metrics', { headers: Object.fromEntries(names) })).status
  }
  // Plus Host and Connection.
  assert.equal(await ask(126), 200)
  for (const count of [127, 1900]) assert.equal(await ask(count), 431)
})

it('returns 417 with a problem document for an unknown expectation', async () => {
  const answer = await admin('GET', '/metrics', { headers: { Expect: 'x' } })
  assert.equal(answer.status, 417)
  assert.equal(answer.json().error, 'expectation-failed')
})

it('stays reachable for the operator while hundreds of silent connections are open', async () => {
  const silent = Array.from({ length: 400 }, () =>
    connect(join(server.dataDir, 'operator.sock')).on('error', () => {}),
  )
  try {
    await Promise.allSettled(silent.map((socket) => once(socket, 'connect')))
    for (let count = 0; count < 10; count++) assert.equal((await admin('GET', '/metrics')).status, 200)
    await until(
      'the oldest ones are closed',
      () => silent.filter((socket) => !socket.closed).length <= 2 * 128,
    )
  } finally {
    for (const socket of silent) socket.destroy()
  }
})

it('has no login link when it is off', async (t) => {
  const other = await serverFor(t, { OPERATOR_LISTEN: 'off' })
  const { code, stdout, stderr } = await other.operator(['login'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /OPERATOR_LISTEN=off: there is no admin server/)
})

it('accepts a login link once, and rejects invalid tokens', async () => {
  const { stdout, stderr } = await server.operator(['login'])
  assert.match(stdout, /^\/login\?/, 'no address, as the admin server listens on a socket')
  assert.match(stderr, /listens on the socket/)
  const { pathname, search, searchParams } = new URL(stdout.trim(), 'http://x')
  const token = searchParams.get('token')!
  for (let count = 0; count < 2; count++) {
    assert.equal((await admin('GET', pathname + search)).status, 200, 'viewing the link does not use it up')
  }
  const entered = await admin('POST', '/login', { form: { token } })
  assert.equal(entered.status, 303, entered.text)
  const set = entered.headers.get('Set-Cookie')!
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.ok(set.includes(part), set)
  assert.ok(!set.includes('Secure'), 'over http a browser would discard it')
  assert.equal((await admin('POST', '/login', { form: { token } })).status, 403, 'the second time')
  for (const wrong of ['', 'x', '0'.repeat(64)]) {
    assert.equal((await admin('POST', '/login', { form: { token: wrong } })).status, 403)
  }
  assert.ok(!server.stderr().includes(token), 'the log contains no token')
})

it('keeps no file open after a HEAD request for an image', async (t) => {
  if (process.platform !== 'linux') return t.skip('does not apply: descriptors are listed by Linux')
  const { id, bytes } = await store(server.url, gif({ size: 3_000_000 }))
  const path = `/images/${id}/bytes`
  for (let count = 0; count < 3; count++) {
    const answer = await admin('HEAD', path, { headers: { Authorization: `Bearer ${TOKEN}` } })
    assert.deepEqual([answer.status, answer.headers.get('Content-Length')], [200, `${bytes.length}`])
  }
  const pids = [server.pid, ...childrenOf(server.pid)!]
  await until('the image is closed', () => pids.every((pid) => openFiles(pid, new RegExp(id)) === 0))
})

it('applies actions in every process', async () => {
  const { get, post: send } = await adminSession(server)
  const image = await store(server.url)
  const held = await send('/images', {
    image: `https://x.example/${image.id}`,
    act: 'hold',
    reason: 'a <report>',
  })
  assert.equal(held.status, 303, held.text)
  assert.equal((await fetchRaw(server.url, image.id)).status, 403)
  const overview = await get('/')
  assert.ok(overview.text.includes(image.id))
  assert.ok(!overview.text.includes('<report>'), 'the reason is escaped')
  assert.equal((await send('/images', { image: image.id, act: 'release', reason: 'harmless' })).status, 303)
  assert.equal((await fetchRaw(server.url, image.id)).status, 200)
  assert.equal(
    (await send('/images', { image: image.id, act: 'remove', reason: 'x', rule: 'spam' })).status,
    303,
  )
  assert.equal((await fetchRaw(server.url, image.id)).status, 403, 'hidden immediately')
  const [, batch = ''] = /name="batch" value="([^"]+)"/.exec((await get('/')).text) ?? []
  assert.equal((await send('/undo', { batch })).status, 303, 'undone')
  assert.equal((await fetchRaw(server.url, image.id)).status, 200)
  const wrong: Record<string, string>[] = [
    { image: 'none', act: 'hold', reason: 'x' },
    { image: image.id, act: 'hold', reason: '' },
    { image: image.id, act: 'erase', reason: 'x' },
    { image: image.id, act: 'hold', reason: 'x', rule: 'No Code' },
  ]
  for (const form of wrong) {
    assert.equal((await send('/images', form)).status, 400)
  }
  assert.equal((await send('/settings', { name: 'no-such', value: '1' })).status, 400)
})

it('holds a flood in one action: pasted links, or all uploads of a period', async () => {
  const session = await adminSession(server)
  const send = (form: Record<string, string>) => session.post('/floods', form)
  const images = []
  for (let count = 0; count < 5; count++) images.push(await store(server.url))
  const [first, second, ...others] = images
  const statuses = (some: { id: string }[]) =>
    Promise.all(some.map(async ({ id }) => (await fetchRaw(server.url, id)).status))
  const pasted = `${server.url}/${first!.id}\n  ${second!.id},\n`
  assert.equal((await send({ images: pasted, reason: 'bots' })).status, 303)
  assert.deepEqual(await statuses(images), [403, 403, 200, 200, 200])
  for (const wrong of [
    { images: `${others[0]!.id}\nnot-an-id`, reason: 'bots' },
    { images: others[0]!.id, reason: '' },
    { images: '', reason: 'bots' },
    { minutes: '1e3', reason: 'bots' },
  ] as Record<string, string>[]) {
    assert.equal((await send(wrong)).status, 400)
  }
  assert.deepEqual(await statuses(others), [200, 200, 200], 'a mistake holds nothing')
  const all = await send({ minutes: '60', reason: 'bots' })
  assert.match(all.text, /2 of \d+ images do not exist or have already been decided\. The others are done\./)
  assert.deepEqual(await statuses(images), [403, 403, 403, 403, 403])
  const network = await Promise.all([1, 2, 3].map((host) => store(server.url, gif(), `192.0.2.${host}`)))
  const far = await store(server.url, gif(), '192.0.3.1')
  assert.equal((await send({ images: network[0]!.id, 'same-network': 'on', reason: 'bots' })).status, 303)
  assert.deepEqual(await statuses([...network, far]), [403, 403, 403, 200])
})

it('holds no flood in part that is larger than an action may be', async () => {
  const ledger = {
    uploadedBetween: async (_from: number, _to: number, limit: number) =>
      Array.from({ length: Math.min(limit, 5000) }, (_, index) => `${index}`.padStart(11, '0')),
  }
  const parts = { ledger, takedown: {}, decisions: {}, now: () => 0 } as unknown as Parameters<
    typeof holdMany
  >[0]
  const form = new URLSearchParams({ minutes: '60', reason: 'bots' })
  assert.match((await holdMany(parts, form, 'me'))!, /At most 1000 can be held at a time/)
})

it('says when there are more cases than it counts', async () => {
  const cases = Array.from({ length: 1001 }, () => ({ severity: 5, dueAt: 2 }))
  const ledger = {
    counts: async () => ({}),
    cases: async () => cases,
    heldIds: async () => [],
    auditLog: async () => [],
  }
  const settings = { refresh: async () => {}, current: () => ({}), changed: () => ({}) }
  const decisions = { pending: async () => [] }
  const parts = { ledger, settings, decisions, now: () => 1 } as unknown as Parameters<typeof factsOf>[0]
  const ctx = { styles: [], script: '', icon: '', who: 'me', formToken: '' }
  assert.match(`${overviewPage(ctx, await factsOf(parts))}`, /: more than 1000, 0 of them urgent/)
})

it('rejects forms from other sites, and forms without the form token', async () => {
  const { cookie, formToken } = await adminSession(server)
  const form = { name: 'uploads', value: 'paused' }
  const attempts: [Record<string, string>, Record<string, string>][] = [
    [{ Cookie: cookie }, form],
    [{ Cookie: cookie }, { ...form, 'form-token': '0'.repeat(64) }],
    [
      { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' },
      { ...form, 'form-token': formToken },
    ],
    [
      { Cookie: cookie, 'Sec-Fetch-Site': 'same-site' },
      { ...form, 'form-token': formToken },
    ],
  ]
  for (const [headers, fields] of attempts) {
    assert.equal((await admin('POST', '/settings', { headers, form: fields })).status, 403)
  }
  assert.equal((await post(server.url, gif())).status, 201)
  const large = await admin('POST', '/settings', {
    headers: { Cookie: cookie },
    form: { a: 'x'.repeat(200_000) },
  })
  assert.equal(large.status, 400)
})

it('refuses embeds and scripts of other sites, even with a valid session', async () => {
  const { cookie } = await adminSession(server)
  const sent = (dest: string, from: string) =>
    admin('GET', '/acts', { headers: { Cookie: cookie, 'Sec-Fetch-Site': from, 'Sec-Fetch-Dest': dest } })
  for (const from of ['cross-site', 'same-site']) {
    for (const dest of ['empty', 'image', 'iframe']) {
      assert.equal((await sent(dest, from)).status, 403, `${dest}, ${from}`)
    }
    assert.equal((await sent('document', from)).status, 200, 'a link that is followed')
  }
  assert.equal((await sent('empty', 'same-origin')).status, 200)
})

it('ends the session on logout', async () => {
  const session = await adminSession(server)
  assert.equal((await session.post('/logout', {})).status, 303)
  assert.equal((await session.get('/')).status, 401)
})

it('accepts only the complete bearer token of programs', async () => {
  const ask = (token: string) => admin('GET', '/acts', { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((await ask(TOKEN)).status, 200)
  for (const wrong of [TOKEN.slice(1), TOKEN.slice(0, -1), `${TOKEN}x`, 'x', '0'.repeat(64)])
    assert.equal((await ask(wrong)).status, 401)
  const paused = await admin('POST', '/settings', {
    headers: { Authorization: `Bearer ${TOKEN}` },
    form: { name: 'daily-uploads', value: '1000', reason: 'x' },
  })
  assert.equal(paused.status, 303, paused.text)
})

// The last test on this server, as the other process resumes with a delay.
it('pauses uploads, and records who did it', async () => {
  const session = await adminSession(server)
  const change = async (value: string) => {
    const form = { name: 'uploads', value, reason: 'bots' }
    assert.equal((await session.post('/settings', form)).status, 303)
  }
  await change('paused')
  await until('uploads are paused', async () => (await post(server.url, gif())).status === 503)
  await change('')
  await until('uploads are resumed', async () => (await post(server.url, gif())).status === 201)
  const acts = (await admin('GET', '/acts', { headers: { Authorization: `Bearer ${TOKEN}` } })).json()
  assert.match(acts.find((act: { subject: string }) => act.subject === 'uploads=paused').who, /.+@.+/)
})

it('reopens after the server was killed, and listens on the configured address', async (t) => {
  await server.kill()
  await server.restart()
  assert.equal((await admin('GET', '/metrics')).status, 200)
  const taken = await serverFor(t, { OPERATOR_LISTEN: '127.0.0.1:1' })
  assert.equal(
    (await request(taken.url, 'GET', '/healthz')).status,
    200,
    'the server runs even if the admin server cannot start',
  )
  const port = await freePort()
  const onIpv6 = await serverFor(t, { OPERATOR_LISTEN: `[::1]:${port}` })
  const { stdout } = await onIpv6.operator(['login'])
  assert.ok(stdout.startsWith(`http://[::1]:${port}/login?token=`), stdout)
  // DNS rebinding: an attacker's host name that resolves to this address.
  for (const [Host, status] of [
    [`localhost:${port}`, 200],
    ['evil.example', 421],
    [`localhost.evil.example:${port}`, 421],
  ] as const) {
    const answer = await request(`http://[::1]:${port}`, 'GET', '/metrics', { headers: { Host } })
    assert.equal(answer.status, status, Host)
  }
})
