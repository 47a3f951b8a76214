/** The admin server: who passes, and what passes through it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { adminSession } from './support/admin-session.ts'
import { atAdmin } from './support/at-admin.ts'
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

it('is a socket that only this account opens, and nothing on the public listener', async () => {
  const { mode } = await stat(join(server.dataDir, 'operator.sock'))
  assert.equal(mode & 0o777, 0o600)
  for (const path of ['/metrics', '/acts', '/login', '/queue', '/feed.xml']) {
    assert.equal((await request(server.url, 'GET', path)).status, 404)
  }
})

it('gives metrics to whoever reaches it, and nothing else without a session', async () => {
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
    assert.equal((await admin('POST', path, { form: { name: 'uploads', value: 'paused' } })).status, 401)
  }
})

it('drops no header in silence: more than 128 are refused', async () => {
  const ask = async (count: number) => {
    const names = Array.from({ length: count }, (_, nth) => [`X-${nth}`, 'x'])
    return (await admin('GET', '/metrics', { headers: Object.fromEntries(names) })).status
  }
  // Host and Connection come on top.
  assert.equal(await ask(126), 200)
  for (const count of [127, 1900]) assert.equal(await ask(count), 431)
})

it('refuses what expects something that nobody knows, as it refuses all else', async () => {
  const answer = await admin('GET', '/metrics', { headers: { Expect: 'x' } })
  assert.equal(answer.status, 417)
  assert.equal(answer.json().error, 'expectation-failed')
})

it('lets the operator in, however many connect and say nothing', async () => {
  const silent = Array.from({ length: 400 }, () =>
    connect(join(server.dataDir, 'operator.sock')).on('error', () => {}),
  )
  try {
    await Promise.allSettled(silent.map((socket) => once(socket, 'connect')))
    for (let looks = 0; looks < 10; looks++) assert.equal((await admin('GET', '/metrics')).status, 200)
    await until('the first ones give way', () => silent.filter((socket) => !socket.closed).length <= 2 * 128)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})

it('lets a link in once, and no other link', async () => {
  const { stdout } = await server.operator(['login'])
  const { pathname, search, searchParams } = new URL(stdout.trim())
  const token = searchParams.get('token')!
  for (let look = 0; look < 2; look++) {
    assert.equal((await admin('GET', pathname + search)).status, 200, 'looking at the link uses nothing up')
  }
  const entered = await admin('POST', '/login', { form: { token } })
  assert.equal(entered.status, 303, entered.text)
  const set = entered.headers.get('Set-Cookie')!
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.ok(set.includes(part), set)
  assert.ok(!set.includes('Secure'), 'over http a browser would not keep it')
  assert.equal((await admin('POST', '/login', { form: { token } })).status, 403, 'a second time')
  for (const wrong of ['', 'x', '0'.repeat(64)]) {
    assert.equal((await admin('POST', '/login', { form: { token: wrong } })).status, 403)
  }
  assert.ok(!server.stderr().includes(token), 'no token is in the log')
})

it('acts in every process', async () => {
  const { cookie, formToken } = await adminSession(server)
  const headers = { Cookie: cookie }
  const send = (path: string, form: Record<string, string>) =>
    admin('POST', path, { headers, form: { 'form-token': formToken, ...form } })
  const image = await store(server.url)
  const held = await send('/images', {
    image: `https://x.example/${image.id}`,
    act: 'hold',
    reason: 'a <report>',
  })
  assert.equal(held.status, 303, held.text)
  assert.equal((await fetchRaw(server.url, image.id)).status, 403)
  const overview = await admin('GET', '/', { headers })
  assert.ok(overview.text.includes(image.id))
  assert.ok(!overview.text.includes('<report>'), 'what is shown is escaped')
  assert.equal((await send('/images', { image: image.id, act: 'release', reason: 'harmless' })).status, 303)
  assert.equal((await fetchRaw(server.url, image.id)).status, 200)
  assert.equal(
    (await send('/images', { image: image.id, act: 'remove', reason: 'x', rule: 'spam' })).status,
    303,
  )
  assert.equal((await fetchRaw(server.url, image.id)).status, 403, 'out of sight at once')
  const [, batch = ''] =
    /name="batch" value="([^"]+)"/.exec((await admin('GET', '/', { headers })).text) ?? []
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

it('holds a flood in one act: what is pasted, and all of a time', async () => {
  const { cookie, formToken } = await adminSession(server)
  const send = (form: Record<string, string>) =>
    admin('POST', '/floods', { headers: { Cookie: cookie }, form: { 'form-token': formToken, ...form } })
  const images = []
  for (let nth = 0; nth < 5; nth++) images.push(await store(server.url))
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
  await send({ minutes: '60', reason: 'bots' })
  assert.deepEqual(await statuses(images), [403, 403, 403, 403, 403])
  const network = await Promise.all([1, 2, 3].map((nth) => store(server.url, gif(), `192.0.2.${nth}`)))
  const far = await store(server.url, gif(), '192.0.3.1')
  assert.equal((await send({ images: network[0]!.id, 'same-network': 'on', reason: 'bots' })).status, 303)
  assert.deepEqual(await statuses([...network, far]), [403, 403, 403, 200])
})

it('takes no form from another site, and none without its token', async () => {
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

it('shows another site’s embeds and scripts nothing, whatever session the browser has', async () => {
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

it('ends a session when it is left', async () => {
  const { cookie, formToken } = await adminSession(server)
  const headers = { Cookie: cookie }
  assert.equal((await admin('POST', '/logout', { headers, form: { 'form-token': formToken } })).status, 303)
  assert.equal((await admin('GET', '/', { headers })).status, 401)
})

it('takes the token of programs, whole', async () => {
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

// Last on this server: the other process takes its time to go on.
it('pauses uploads, and records who did it', async () => {
  const { cookie, formToken } = await adminSession(server)
  const change = async (value: string) => {
    const form = { 'form-token': formToken, name: 'uploads', value, reason: 'bots' }
    assert.equal((await admin('POST', '/settings', { headers: { Cookie: cookie }, form })).status, 303)
  }
  await change('paused')
  await until('it is paused', async () => (await post(server.url, gif())).status === 503)
  await change('')
  await until('it goes on', async () => (await post(server.url, gif())).status === 201)
  const acts = (await admin('GET', '/acts', { headers: { Authorization: `Bearer ${TOKEN}` } })).json()
  assert.match(acts.find((act: { subject: string }) => act.subject === 'uploads=paused').who, /.+@.+/)
})

it('opens again after the server was killed, and listens where it is told to', async (t) => {
  await server.kill()
  await server.restart()
  assert.equal((await admin('GET', '/metrics')).status, 200)
  const taken = await serverFor(t, { OPERATOR_LISTEN: '127.0.0.1:1' })
  assert.equal(
    (await request(taken.url, 'GET', '/healthz')).status,
    200,
    'an admin server that does not start stops nothing',
  )
  const port = await freePort()
  const sixth = await serverFor(t, { OPERATOR_LISTEN: `[::1]:${port}` })
  const { stdout } = await sixth.operator(['login'])
  assert.ok(stdout.startsWith(`http://[::1]:${port}/login?token=`), stdout)
  // A name of somebody else's that was made to point here: DNS rebinding.
  for (const [Host, status] of [
    [`localhost:${port}`, 200],
    ['evil.example', 421],
    [`localhost.evil.example:${port}`, 421],
  ] as const) {
    const answer = await request(`http://[::1]:${port}`, 'GET', '/metrics', { headers: { Host } })
    assert.equal(answer.status, status, Host)
  }
})
